/// An item's properties, without its secret.
struct ItemProperties {
    let attributes: [String: String]
    /// Seconds since 1970 UTC.
    let modified: UInt64

    init(_ properties: [String: Variant]) {
        attributes = properties["Attributes"]?.texts ?? [:]
        modified = properties["Modified"]?.number ?? 0
    }
}
