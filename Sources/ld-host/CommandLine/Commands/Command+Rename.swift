internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    private static let overwrite = Option(name: "--overwrite", help: "replace a value that TO has")

    private static let renamingDetails = """
        The value keeps its bytes, its format and the time when it expires. A sealed value is sealed for TO; it is
        refused if TO would keep it readable, and one that TO's catalog does not accept, too. All of it is one step:
        after a crash, TO has the whole value or what it had before.
        """

    static let move = Command(
        name: "mv", operands: "FROM TO", count: 2...2, summary: "give a value another address",
        details: """
            \(renamingDetails) FROM loses its value in the same step. An app that reads FROM needs a migration: see
            ld-host help migrate.
            """,
        options: [overwrite], removes: true
    ) { arguments, session in try await rename(arguments, session, .moves) }

    static let copy = Command(
        name: "cp", operands: "FROM TO", count: 2...2, summary: "copy a value to another address",
        details: renamingDetails, options: [overwrite]
    ) { arguments, session in try await rename(arguments, session, .copies) }

    private static func rename(
        _ arguments: Arguments, _ session: Session, _ renaming: StorageRouter.Renaming
    ) async throws -> ExitStatus {
        let router = try session.router()
        let source = try await Address.key(arguments.operands[0], router)
        let target = try await Address.key(arguments.operands[1], router)
        try await router.bring(source, to: target, renaming, replaces: arguments.has("--overwrite"))
        try await warnIfLost(target.descriptor.domain, router)
        return .done
    }
}
