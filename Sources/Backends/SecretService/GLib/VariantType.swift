internal import CSecret

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
