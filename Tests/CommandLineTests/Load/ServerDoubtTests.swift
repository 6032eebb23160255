import FoundationEssentials
import TestSupport
import Testing

/// Problems with a PostgreSQL server, or the connection to it, that a user must learn about.
@Suite("A server in doubt", .serialized) struct ServerDoubtTests {
    private func home(_ uri: String) throws -> Home {
        let home = try Home()
        try home.done("config", "set", "stores.shared.component", "postgresql")
        try home.done("config", "set", "stores.shared.options.uri", uri)
        try home.done("config", "set", "stores.shared.options.timeout", "1")
        try home.done("config", "set", "domains.userDefaults", "shared")
        return home
    }

    @Test("a server that a power loss may damage is reported by the test of a store and by doctor; others are not")
    func hasty() throws {
        let server = try PostgreSQLServer("-c fsync=off -c full_page_writes=off")
        let warning = "runs with fsync=off and full_page_writes=off, so a power loss may lose or damage"
        let hasty = try home(server.uri())
        for command in [["store", "test", "shared"], ["doctor"]] {
            let ending = try hasty.run(BuiltProducts.host, command)
            #expect(ending.errors.count(of: warning) == 1, "\(command): \(ending.errors)")
            #expect(ending.errors.contains("127.0.0.1:\(server.port)"))
        }
        let sound = try home(try PostgreSQLServer.shared.get().uri())
        #expect(try !sound.run("store", "test", "shared").errors.contains("power loss"))
    }

    @Test("a name server that does not answer is waited for until the deadline, and no longer")
    func silentNameServer() throws {
        let home = try home("postgresql://ann@database.test/x")
        let source = """
            #include <netdb.h>
            #include <unistd.h>
            int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **list) {
                (void)name, (void)service, (void)hints, (void)list;
                sleep(300);
                return EAI_AGAIN;
            }
            """
        try Data(source.utf8).write(to: URL(filePath: "\(home.path)/silent.c"))
        let start = ContinuousClock.now
        let ending = try home.shell(
            """
            cc -shared -fPIC silent.c -o silent.so
            LD_PRELOAD=$HOME/silent.so ld-host get userDefaults/a
            """)
        #expect(ending.status == 2)
        #expect(ending.errors.contains("database.test:5432"), "\(ending.errors)")
        #expect(ending.errors.contains("its name could not be looked up in time"), "\(ending.errors)")
        #expect(ContinuousClock.now - start < .seconds(60))
    }
}

extension String {
    /// How often a text occurs.
    fileprivate func count(of text: String) -> Int { ranges(of: text).count }
}
