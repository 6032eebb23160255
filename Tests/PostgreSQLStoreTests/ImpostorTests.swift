import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("A program that listens in the place of a PostgreSQL server")
struct ImpostorTests {
    private static let password = "hunter2-db"
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(Data("\(Self.password)\n".utf8), to: "password")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder.path)/password")
    }

    private func store(_ uri: String, _ options: [String: ComponentOption.Value] = [:]) throws -> OpenStore {
        try OpenStore(
            uri, options.merging(["passwordFile": .string("\(folder.path)/password")]) { given, _ in given })
    }

    /// Expects that calls are refused, and returns the error.
    private func refusal(_ store: OpenStore) -> String {
        let error = #expect(throws: StorageError.self) { try store.get("name") }
        #expect(error?.code == .permissionDenied, "\(String(describing: error))")
        let text = error.map { "\($0)" } ?? ""
        #expect(!text.contains(Self.password))
        return text
    }

    @Test("on a loopback port learns no password, whatever it asks for", arguments: Impostor.Method.allCases)
    func loopback(_ method: Impostor.Method) throws {
        let listening = try Listening()
        let impostor = try Impostor.start(listening.descriptor, method)
        defer { impostor.end() }
        for host in ["127.0.0.1", "localhost"] {
            for query in ["", "?sslmode=disable", "?sslmode=allow", "?channel_binding=disable", "?sslmode=verify-full"]
            {
                let uri = "postgresql://app@\(host):\(listening.port)/app\(query)"
                if query.contains("verify-full") {
                    #expect(throws: StorageError.storeUnavailable) { try store(uri).get("name") }
                } else {
                    #expect(refusal(try store(uri)).contains("allowsUnverifiedServer"))
                }
                // Without a password of the store's, it is asked, and has nothing to answer.
                #expect(throws: StorageError.self) { try OpenStore(uri).get("name") }
            }
        }
        #expect(impostor.answers == [] && impostor.clients > 0)
    }

    @Test("gets the password in clear only if an option allows it")
    func allowed() throws {
        let listening = try Listening()
        let impostor = try Impostor.start(listening.descriptor, .clear)
        defer { impostor.end() }
        let uri = "postgresql://app@127.0.0.1:\(listening.port)/app"
        let store = try store(uri, ["allowsUnverifiedServer": .boolean(true)])
        #expect(throws: StorageError.self) { try store.get("name") }
        #expect(impostor.answers.count == 1 && impostor.answers.allSatisfy { $0.contains(Self.password) })
    }

    @Test("behind a Unix socket learns no password, unless the URI names its system user")
    func socket() throws {
        let descriptor = try Self.listen(on: "\(folder.path)/.s.PGSQL.5999")
        defer { close(descriptor) }
        let impostor = try Impostor.start(descriptor, .clear)
        defer { impostor.end() }
        let uri = "postgresql://app@/app?host=\(folder.path)&port=5999"
        #expect(refusal(try store(uri)).contains("asks for a password, and nothing shows who runs it"))
        #expect(refusal(try store("\(uri)&requirepeer=daemon")).contains("requirepeer"))
        #expect(impostor.answers == [] && impostor.clients == 1)
        // A user without an entry in the user database cannot be named: the two refusals above are all there is.
        guard let user = getpwuid(geteuid()).map({ String(cString: $0.pointee.pw_name) }) else { return }
        #expect(throws: StorageError.self) { try store("\(uri)&requirepeer=\(user)").get("name") }
        #expect(impostor.answers.count == 1 && impostor.answers.allSatisfy { $0.contains(Self.password) })
    }

    private static func listen(on path: String) throws -> Int32 {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
        let isBound = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound, Glibc.listen(descriptor, 10) == 0 else { throw TestFailure("no socket at \(path): \(errno)") }
        return descriptor
    }
}
