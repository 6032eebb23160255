import FoundationEssentials
import TestSupport
import Testing

/// 16 processes that add to one counter as fast as they can, with ``StorageRouter/update(_:_:)``. 10,000 times each
/// with `LOCALDATA_TORTURE=1`, which takes minutes; the deadline fits a machine that is ten times slower.
@Suite("A crowd that counts", .serialized) struct CountingCrowdTests {
    private static let times = TestRun.isTorture ? 10_000 : 40
    private static let deadline = Duration.seconds(TestRun.isTorture ? 3 * 3600 : 600)

    private func expectExact(_ home: Home, and other: Home? = nil) throws {
        let second = (other ?? home).path
        let ending = try home.shell(
            """
            for i in $(seq 8); do
                "$BIN/migration-exercise" count \(Self.times) & pids="$pids $!"
                HOME=$OTHER XDG_CONFIG_HOME=$OTHER/config XDG_DATA_HOME=$OTHER/data XDG_CACHE_HOME=$OTHER/cache \\
                    XDG_STATE_HOME=$OTHER/state "$BIN/migration-exercise" count \(Self.times) & pids="$pids $!"
            done
            for pid in $pids; do wait $pid || echo failed; done
            """, adding: ["OTHER": second], deadline: Self.deadline)
        #expect(ending.text == "" && ending.errors == "", "\(ending.text)\(ending.errors)")
        #expect(try (other ?? home).done("get", "userDefaults:count/counter").text == "\(16 * Self.times)")
    }

    @Test("16 processes count to the exact sum", arguments: ["file", "sqlite"])
    func local(store: String) throws {
        let home = try Home()
        try home.done("config", "set", "domains.userDefaults", store)
        try expectExact(home)
    }

    @Test("16 processes on two machines count to the exact sum in PostgreSQL")
    func machines() throws {
        let server = try PostgreSQLServer.shared.get()
        let schema = "counting_\(UInt32.random(in: 0 ... .max))"
        let homes = try (0..<2).map { _ in
            let home = try Home()
            try home.done("config", "set", "stores.shared.component", "postgresql")
            try home.done("config", "set", "stores.shared.options.uri", server.uri())
            try home.done("config", "set", "stores.shared.options.schema", schema)
            try home.done("config", "set", "domains.userDefaults", "shared")
            return home
        }
        try expectExact(homes[0], and: homes[1])
    }
}
