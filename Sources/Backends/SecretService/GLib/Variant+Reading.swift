internal import CSecret

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
