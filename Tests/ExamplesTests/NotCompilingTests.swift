import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

/// Misuse of the API that the compiler must reject.
@Suite("code that does not compile", .timeLimit(.minutes(3))) struct NotCompilingTests {
    /// The compiler's errors for a file that uses the API; empty if there are none.
    private func complaints(_ code: String, _ flags: [String] = []) throws -> String {
        let folder = try TemporaryFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "import LocalDataAPI\n\(code)\n".write(
            to: URL(filePath: "\(folder)/code.swift"), atomically: false, encoding: .utf8)
        let modules = ["CLocalData", "CLinux", "CChecksum"].flatMap {
            [
                "-Xcc", "-fmodule-map-file=\(BuiltProducts.folder)/\($0).build/module.modulemap",
                "-Xcc", "-I\(Repository.root)/Sources/LocalDataAPI/\($0)/include",
            ]
        }
        let end = try ChildProcess(
            "/usr/bin/env",
            arguments: [
                "swiftc", "-typecheck", "-swift-version", "6", "-module-cache-path", folder,
                "-I", "\(BuiltProducts.folder)/Modules",
            ] + flags + modules + ["\(folder)/code.swift"], environment: ProcessInfo.processInfo.environment
        ).run(deadline: .seconds(120))
        let text = String(decoding: end.output, as: UTF8.self) + end.errorText
        #expect((end.outcome == .exited(code: 0)) == text.isEmpty, "\(text)")
        return text
    }

    private func migration(_ condition: String) -> String {
        """
        struct Migration: ConditionalMigration {
            let destinationKey: StorageKey<String>
            \(condition) async throws -> Bool { true }
            func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult {
                MigrationResult(success: true)
            }
        }
        """
    }

    @Test("seed defect 2: a migration without its required condition")
    func condition() throws {
        let whole = "func shouldMigrate(using router: any StorageProviding, context: MigrationContext)"
        #expect(try complaints(migration(whole)) == "")
        for other in [
            "func shouldMigrate(context: MigrationContext)", "func shouldMigrate(using router: any StorageProviding)",
            "func shouldMigrates(using router: any StorageProviding, context: MigrationContext)",
        ] {
            let text = try complaints(migration(other))
            #expect(text.contains("does not conform") && text.contains("shouldMigrate(using:context:)"), "\(text)")
        }
    }

    @Test("a value and a key of a target whose default isolation is the main actor, unless they say nonisolated")
    func isolation() throws {
        func code(_ keyword: String) -> String {
            """
            import LocalDataHost
            \(keyword) struct Account: Codable, Sendable { var name: String }
            \(keyword) extension StorageKey where Value == Account {
                static let account = StorageKey(
                    name: "account", domain: .fileSystem(), security: .none, owner: "Accounts", description: "Who it is.")
            }
            struct Catalog: StorageKeyCatalog { nonisolated var allKeys: [AnyStorageKey] { [.key(StorageKey.account)] } }
            func use(_ router: StorageRouter) async throws {
                try await router.set(Account(name: "Ada"), for: .account)
                try await router.update(.account) { $0?.name = "Ada" }
            }
            """
        }
        let flags = ["-default-isolation", "MainActor"]
        #expect(try complaints(code("nonisolated"), flags) == "")
        #expect(try complaints(code(""), flags).contains("isolated"))
    }

    @Test("a call that blocks, in code that can await it")
    func blocking() throws {
        let code = { (keyword: String) in
            "import LocalDataHost\nfunc f() \(keyword) throws -> Int { try IOExecutor.blocking { 1 } }"
        }
        #expect(try complaints(code("")) == "")
        #expect(try complaints(code("async")).contains("await the call"))
    }
}
