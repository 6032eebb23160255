import Foundation
import LocalDataAPI

/// The options of a store under test; its timeouts are shorter than the defaults.
struct SecretOptions {
    var collection = "default"
    var timeout = 30.0
    var promptTimeout = 30.0
    var application = "Python keyring library"
    var bus = ""

    var values: [String: ComponentOption.Value] {
        [
            "collection": .string(collection), "timeout": .number(timeout), "promptTimeout": .number(promptTimeout),
            "application": .string(application), "bus": .string(bus),
        ]
    }

    /// The JSON that a plugin gets.
    var json: String {
        """
        {"collection": "\(collection)", "timeout": \(timeout), "promptTimeout": \(promptTimeout), \
        "application": "\(application)", "bus": "\(bus)"}
        """
    }
}
