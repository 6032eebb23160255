internal import LocalDataPluginAPI

/// The collection of the service that a store keeps its items in.
enum CollectionName: Sendable {
    /// The user's default collection.
    case standard
    /// The collection that the login password unlocks.
    case login
    /// The collection that ends with the session.
    case session
    /// A collection with this label.
    case labelled(String)

    init(_ text: String) throws(StorageError) {
        switch text {
        case "default": self = .standard
        case "login": self = .login
        case "session": self = .session
        case "":
            throw StorageError(
                .invalidOptions, "option 'collection' is empty",
                hint: "use default, login, session, or the label of a collection")
        default: self = .labelled(text)
        }
    }

    /// The alias path of a predefined collection.
    var alias: String? {
        switch self {
        case .standard: "/org/freedesktop/secrets/aliases/default"
        case .login: "/org/freedesktop/secrets/aliases/login"
        case .session: "/org/freedesktop/secrets/aliases/session"
        case .labelled: nil
        }
    }
}

extension CollectionName: CustomStringConvertible {
    var description: String {
        switch self {
        case .standard: "the default collection"
        case .login: "the collection 'login'"
        case .session: "the collection 'session'"
        case .labelled(let label): "the collection '\(label)'"
        }
    }
}
