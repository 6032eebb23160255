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
