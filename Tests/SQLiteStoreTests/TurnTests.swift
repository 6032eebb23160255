import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("Many threads and connections on one SQLite database")
struct TurnTests {
    @Test("two stores of one process with eight threads each: nothing is lost, and no call fails")
    func writers() async throws {
        let folder = try TemporaryFolder()
        let stores = try [BuiltStore(in: folder), BuiltStore(in: folder)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, store) in stores.enumerated() {
                for thread in 0..<8 {
                    group.addTask(executorPreference: IOExecutor.shared) {
                        for round in 0..<25 {
                            let name = "\(index)-\(thread)-\(round)"
                            try store.set(name, Data(name.utf8))
                            guard try store.get(name) == Data(name.utf8) else { throw StorageError(.notFound, name) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try stores[0].names().count == 400)
        #expect(try stores[1].findings() == [])
    }

    @Test("one of two transactions that add to the same number is refused, and the number is right")
    func transactions() async throws {
        let store = try BuiltStore()
        try store.set("count", Data("0".utf8))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask(executorPreference: IOExecutor.shared) {
                    let handle = try store.handle("count")
                    defer { store.store.release(handle) }
                    var done = 0
                    while done < 20 {
                        let transaction = try store.store.begin()
                        let text = try store.store.get(handle, in: transaction).map {
                            String(decoding: $0, as: UTF8.self)
                        }
                        let next = (Int(text ?? "") ?? -1000) + 1
                        try store.store.set(handle, to: Data("\(next)".utf8), in: transaction)
                        do {
                            try store.store.commit(transaction)
                            done += 1
                        } catch StorageError.busy { continue }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.get("count") == Data("80".utf8))
    }
}
