internal import CSecret

/// A D-Bus value. Immutable; readers return `nil` for a value of another type.
final class Variant: @unchecked Sendable {
    // GVariant is immutable, with an atomic reference count.
    let pointer: OpaquePointer

    /// Takes over a reference, or the first one of a new value.
    init(taking pointer: OpaquePointer) { self.pointer = g_variant_take_ref(pointer) }

    deinit { g_variant_unref(pointer) }

    /// Text without NUL.
    static func string(_ text: String) -> Variant { Variant(taking: g_variant_new_string(text)) }

    /// An object's path. A malformed one becomes `/`, which no object of the service has.
    static func path(_ path: String) -> Variant {
        Variant(taking: g_variant_new_object_path(g_variant_is_object_path(path) != 0 ? path : "/"))
    }

    static func boolean(_ value: Bool) -> Variant { Variant(taking: g_variant_new_boolean(value ? 1 : 0)) }

    static func tuple(_ members: Variant...) -> Variant {
        var pointers: [OpaquePointer?] = members.map(\.pointer)
        return withExtendedLifetime(members) { Variant(taking: g_variant_new_tuple(&pointers, gsize(pointers.count))) }
    }

    /// An array of paths.
    static func paths(_ paths: [String]) -> Variant { array("o", paths.map { .path($0) }) }

    /// A dictionary of texts without NUL.
    static func texts(_ texts: [String: String]) -> Variant {
        array("{ss}", texts.map { entry($0.key, .string($0.value)) })
    }

    /// A dictionary of properties.
    static func properties(_ properties: [String: Variant]) -> Variant {
        array("{sv}", properties.map { entry($0.key, .boxed($0.value)) })
    }

    /// A value that includes its type.
    static func boxed(_ value: Variant) -> Variant { Variant(taking: g_variant_new_variant(value.pointer)) }

    private static func entry(_ key: String, _ value: Variant) -> Variant {
        let key = Variant.string(key)
        return withExtendedLifetime((key, value)) {
            Variant(taking: g_variant_new_dict_entry(key.pointer, value.pointer))
        }
    }

    private static func array(_ type: String, _ members: [Variant]) -> Variant {
        var pointers: [OpaquePointer?] = members.map(\.pointer)
        return withExtendedLifetime(members) {
            VariantType.with(type) { Variant(taking: g_variant_new_array($0, &pointers, gsize(pointers.count))) }
        }
    }
}

extension Variant {
    private func isOf(_ type: String) -> Bool { VariantType.with(type) { g_variant_is_of_type(pointer, $0) != 0 } }

    /// A member of a tuple, an array or an entry; the content of a boxed value.
    subscript(index: Int) -> Variant? {
        guard g_variant_is_container(pointer) != 0, index >= 0, index < count else { return nil }
        return Variant(taking: g_variant_get_child_value(pointer, gsize(index)))
    }

    /// The number of members in a container.
    var count: Int { g_variant_is_container(pointer) != 0 ? Int(g_variant_n_children(pointer)) : 0 }

    /// The text, or an object's path.
    var text: String? {
        guard isOf("s") || isOf("o") else { return nil }
        return g_variant_get_string(pointer, nil).map { String(cString: $0) }
    }

    var boolean: Bool? { isOf("b") ? g_variant_get_boolean(pointer) != 0 : nil }

    var number: UInt64? { isOf("t") ? UInt64(g_variant_get_uint64(pointer)) : nil }

    /// The paths of an array of paths.
    var paths: [String]? { isOf("ao") ? members.compactMap(\.text) : nil }

    /// The entries of a dictionary of texts.
    var texts: [String: String]? {
        guard isOf("a{ss}") else { return nil }
        var texts: [String: String] = [:]
        for entry in members { if let key = entry[0]?.text, let value = entry[1]?.text { texts[key] = value } }
        return texts
    }

    /// The entries of a dictionary of properties.
    var properties: [String: Variant]? {
        guard isOf("a{sv}") else { return nil }
        var properties: [String: Variant] = [:]
        for entry in members { if let key = entry[0]?.text, let value = entry[1]?[0] { properties[key] = value } }
        return properties
    }

    private var members: [Variant] { (0..<count).compactMap { self[$0] } }
}

/// The D-Bus types, by signature.
enum VariantType {
    /// Lends a type for the duration of `body`. The signature is one of this plugin's constants, and well formed.
    static func with<Result, Failure: Error>(
        _ signature: String, _ body: (OpaquePointer?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let type = g_variant_type_new(signature)
        defer { g_variant_type_free(type) }
        return try body(type)
    }
}
