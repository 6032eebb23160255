internal import LocalDataPluginAPI

/// The options of a store.
struct ServiceOptions: Sendable {
    static let list: [ComponentOption] = [
        .string(
            "collection", default: "default",
            help:
                "the collection: 'default', 'login', 'session', or a label; created if it is missing"),
        .number("timeout", default: 5, help: "time limit for a call of the service, in seconds"),
        .number(
            "promptTimeout", default: 60,
            help: "time limit for a person to unlock a collection, in seconds; 0 to fail at once instead of asking"),
        .string(
            "application", default: "Python keyring library",
            help: "the attribute 'application' of new items; Python's keyring replaces only items that have its name"),
        .string("bus", default: "", help: "the D-Bus address of the bus; empty for the session bus"),
    ]

    let collection: CollectionName
    let timeout: Double
    let promptTimeout: Double
    let application: String
    let bus: String

    init(_ options: ComponentOptions) throws(StorageError) {
        collection = try CollectionName(try Self.text("collection", of: options))
        timeout = try options.number("timeout", in: 0.001...3600, unit: "seconds")
        promptTimeout = try options.number("promptTimeout", in: 0...3600, unit: "seconds")
        application = try Self.text("application", of: options)
        bus = try Self.text("bus", of: options)
    }

    private static func text(_ name: String, of options: ComponentOptions) throws(StorageError) -> String {
        let text = try options.string(name)
        guard !text.utf8.contains(0) else {
            throw StorageError(.invalidOptions, "option '\(name)' contains a NUL byte", hint: "leave it out")
        }
        return text
    }
}
