internal import HostClients
internal import LocalDataAPI
internal import LocalDataHost

/// A credential helper as Docker's clients know one: they read the text of an error from standard output, and any exit
/// status but 0 is a failure.
enum DockerHelper {
    /// The name under which clients find it; `"credsStore": "localdata"` in Docker's configuration means it.
    static let name = "docker-credential-localdata"

    /// How to call it.
    static let usage = "Usage: \(name) <store|get|erase|list|version>"

    /// Performs an action, and returns its output.
    static func perform(_ action: String, _ session: Session) async throws -> SecretBuffer {
        let result = SecretBuffer()
        switch action {
        case "store":
            let request = try Input.secret(limit: DockerCredentialStore.largest)
            try await store(session).store(DockerCredential(json: request.slice))
        case "get":
            let request = try Input.secret(limit: DockerCredentialStore.largest)
            return try await store(session).get(request.slice).json
        case "erase":
            let request = try Input.secret(limit: DockerCredentialStore.largest)
            try await store(session).erase(request.slice)
        case "list":
            return try await store(session).list { error in
                Output.remark("ld-host: left out of the list: \(Printable(error.message))")
            }
        case "version", "--version", "-v": result.append("\(name) (LocalData) v\(HostVersion.current)\n")
        case "--help", "-h": result.append("\(usage)\n")
        default: throw StorageError(.unsupported, "\(name): unknown action: \(Printable(action))")
        }
        return result
    }

    /// The text of a failure for the client, on one line.
    static func text(_ error: any Error) -> String {
        if let refusal = error as? DockerCredentialStore.Refusal { return refusal.rawValue }
        let text = StorageError(wrapping: error).description
        return "\(Printable(text.replacing("\n", with: "; ")))"
    }

    private static func store(_ session: Session) throws(StorageError) -> DockerCredentialStore {
        DockerCredentialStore(try session.router())
    }
}

/// What the program was called as. Under the names by which git and Docker look for a credential helper, links to it
/// are those helpers.
enum ProgramName {
    private static let commands = [
        "git-credential-localdata": ["credential", "git"],
        DockerHelper.name: ["credential", "docker"],
    ]

    /// The words of a command line, with the command that the name stands for in front.
    static func words(_ words: [String]) -> [String] {
        // The caller chooses this name. Nothing but the choice of the command depends on it.
        guard let path = CommandLine.arguments.first else { return words }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        // Docker's helpers take these as actions, and this program would take them as options of its own.
        let isAction = name == DockerHelper.name && ["--version", "-v", "--help", "-h"].contains(words.first)
        return (commands[name] ?? []) + (isAction ? ["--"] : []) + words
    }
}
