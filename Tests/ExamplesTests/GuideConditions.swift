import LocalDataAPI
import LocalDataHost

func visit(_ router: StorageRouter) async throws -> Int {
    try await router.update(.visits) { $0 = ($0 ?? 0) + 1 } ?? 0  // again, if someone was faster
}

func claim(_ name: String, _ router: StorageRouter) async throws -> Bool {
    do {
        try await router.create(name, for: .leader, lifetime: .seconds(30))  // unless it is renewed
        return true
    } catch StorageError.conflict {
        return false
    }
}

func rename(_ router: StorageRouter) async throws {
    guard let title = try await router.revisioned(.title) else { return }
    try await router.set(title.value.uppercased(), for: .title, ifRevision: title.revision)
}
