import FoundationEssentials
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@testable import HostGround
@testable import HostStores
@testable import LocalDataHost

@Suite("containers whose steps are interrupted", .timeLimit(.minutes(120))) struct ContainerInterruptionTests {
    private static let names = Atomic<Int>(0)
    /// Seeds of the histories: 1,000 with `LOCALDATA_TORTURE=1`.
    private static let seeds = (0..<(TestRun.isTorture ? 1000 : 12)).map { TestRun.seed &* 1_000_003 &+ UInt64($0) }

    private func router(_ fixture: FixtureBuilder, _ store: StoppingStore) async throws -> StorageRouter {
        let router = StorageRouter(
            configuration: try fixture.configuration("domains: { here: \"stopping\", there: \"stopping\" }"),
            log: SilentLog())
        let name = "stopped container \(Self.names.wrappingAdd(1, ordering: .relaxed).newValue)"
        try await router.registerPlugin(
            named: name, Plugin.export(name, version: "0", .storage(StoppingStore.self) { _, _ in store }))
        return router
    }

    private func look(_ router: StorageRouter) async throws -> (stored: ContainerHistory.Stored, version: Int?) {
        func texts(_ domain: StorageDomain) async throws -> [String: String] {
            try await router.content(of: domain).mapValues { String($0.dropFirst().dropLast()) }
        }
        let snapshot = try await router.snapshot()
        try await onIOThread { () throws(StorageError) in BatchRecovery(snapshot: snapshot).recoverAndSettle() }
        var stored = ContainerHistory.Stored(
            here: try await texts(ContainerHistory.here), there: try await texts(ContainerHistory.there))
        stored.here["A.__version"] = nil
        let version = try await router.content(of: ContainerHistory.here)["A.__version"].flatMap { Int($0) }
        return (stored, version)
    }

    @Test("from every version, stopped at any points, the steps end as if they had run one by one", arguments: seeds)
    func anyPoint(_ seed: UInt64) async throws {
        let history = ContainerHistory(seed: seed)
        var generator = SeededGenerator(seed: seed ^ 0x5eed)
        for version in 1...history.container.version {
            let fixture = try FixtureBuilder()
            defer { fixture.remove() }
            let store = StoppingStore(options: ComponentOptions(), host: HostServices(name: "tests", version: "0"))
            var router = try await router(fixture, store)
            let state = history.states[version - 1]
            try await router.fill(state.here, in: ContainerHistory.here)
            try await router.fill(state.there, in: ContainerHistory.there)
            // Data of the first version may have been stored without a version.
            if version > 1 || state.here.isEmpty || Bool.random(using: &generator) {
                try await router.fill(["A.__version": version], in: ContainerHistory.here)
            }
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                store.stop(after: Int.random(in: 0..<24 * history.steps.count, using: &generator))
                let progress = try? await migrate(history.container, history.steps, in: router)
                store.goOn()
                router = try await self.router(fixture, store)
                let (found, reached) = try await look(router)
                // Values that remain to be removed may still exist; everything else is where its version has it.
                let expected = history.states[(reached ?? version) - 1]
                let what = "seed \(seed) from \(version) at \(reached ?? 0): \(found.differences(from: expected))"
                #expect((reached ?? version) >= version && expected.isPart(of: found), "\(what)")
                if progress != nil { #expect(reached == history.container.version, "\(what)") }
            }
            try await migrate(history.container, history.steps, in: router)
            let (found, reached) = try await look(router)
            #expect(
                found == history.states.last && reached == history.container.version, "seed \(seed) from \(version)")
            #expect(try await migrate(history.container, history.steps, in: router).steps == [])
        }
    }
}

extension ContainerHistory.Stored {
    /// The stored and expected values that differ.
    fileprivate func differences(from other: Self) -> [String] {
        [(here, other.here), (there, other.there)].flatMap { found, expected in
            Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] }
                .map { "\($0): \(found[$0] ?? "nothing"), expected \(expected[$0] ?? "nothing")" }
        }
    }

    /// Whether the other one contains all of these values.
    fileprivate func isPart(of other: ContainerHistory.Stored) -> Bool {
        here.allSatisfy { other.here[$0.key] == $0.value } && there.allSatisfy { other.there[$0.key] == $0.value }
    }
}
