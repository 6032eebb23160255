internal import CSecret

/// The types of D-Bus, by their signatures.
enum VariantType {
    /// Lends a type for the time of `body`. The signature is a constant of this plugin's, and well formed.
    static func with<Result, Failure: Error>(
        _ signature: String, _ body: (OpaquePointer?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let type = g_variant_type_new(signature)
        defer { g_variant_type_free(type) }
        return try body(type)
    }
}
