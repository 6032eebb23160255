public import LocalDataPluginAPI

/// A secret that a server asks for: a file that holds it, or the text that the host has given.
public enum ServerSecret: Sendable {
    case file(SecretFile)
    case text(String)

    /// The secret that a component's options name; `nil` if they name none.
    ///
    /// - Parameters:
    ///   - text: The name of the option with the secret itself.
    ///   - file: The name of the option with a file; see ``SecretFile/init(_:of:kind:)``.
    ///   - kind: What the file is called in messages.
    /// - Throws: `invalidOptions` if there are both.
    public init?(_ options: ComponentOptions, text: String, file: String, kind: String) throws(StorageError) {
        let path = try options.string(file)
        guard options.contains(text) else {
            guard !path.isEmpty else { return nil }
            self = .file(try SecretFile(path, of: file, kind: kind))
            return
        }
        guard path.isEmpty else {
            throw StorageError(
                .invalidOptions, "options '\(text)' and '\(file)' cannot be combined", hint: "leave one of them out")
        }
        self = .text(try options.string(text))
    }

    /// Lends the secret, without a line end, followed by a zero byte.
    ///
    /// - Throws: `permissionDenied` if others could read the file; `storeUnavailable` if it is missing or unusable.
    public func with<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) throws -> Result {
        switch self {
        case .file(let file): try file.with(body)
        case .text(let text): try text.withCString(body)
        }
    }
}
