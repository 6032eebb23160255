import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("FairLock", .timeLimit(.minutes(1))) struct FairLockTests {
    @Test("many shared uses in a row do not starve an exclusive one")
    func fairness() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let lock = FairLock("\(home.folder)/lock")
        let (inside, shared, ended) = (Counter(), Counter(), Counter())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask(executorPreference: IOExecutor.shared) {
                    while ended.value == 0, !Task.isCancelled {
                        try lock.shared { (_) throws(StorageError) in
                            inside.add()
                            // Stays until another user is in, or none comes, so that the lock is hardly ever free.
                            for _ in 0..<100 where inside.value < 2 { sched_yield() }
                            inside.add(-1)
                            shared.add()
                        }
                        await Task.yield()
                    }
                }
            }
            for _ in 0..<50 {
                try await onIOThread { () throws(StorageError) in
                    try lock.exclusive { (_) throws(StorageError) in #expect(inside.value == 0) }
                }
            }
            ended.add()
            try await group.waitForAll()
        }
        #expect(shared.value > 0)
    }

    @Test("nobody holds it exclusively between a change and what follows under the shared lock")
    func sharingAfterChange() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let lock = FairLock("\(home.folder)/lock")
        let (begun, shared) = (Counter(), Counter())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask(executorPreference: IOExecutor.shared) {
                    for number in 0..<200 {
                        let change: (borrowing LockedFile) throws(StorageError) -> Int? = { (_) throws(StorageError) in
                            #expect(begun.value == 0)
                            if number % 3 == 0 { return nil }
                            begun.add()
                            return number
                        }
                        let result = try lock.exclusive(change) { (changed) throws(StorageError) in
                            for _ in 0..<10 { sched_yield() }
                            begun.add(-1)
                            shared.add()
                            return changed
                        }
                        #expect(result == (number % 3 == 0 ? nil : number))
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(shared.value == 4 * 133)
    }

    @Test("it excludes like any lock, even if another process removes its files")
    func removed() throws {
        let home = try SealedHome()
        defer { home.remove() }
        let path = "\(home.folder)/a/lock"
        let lock = FairLock(path)
        for number in 1...3 as ClosedRange<UInt64> {
            try lock.exclusive { (file) throws(StorageError) in try file.setNumber(number) }
            #expect(try lock.shared { $0 } == number)
            try FileManager.default.removeItem(atPath: "\(path).turn")
        }
        try FileManager.default.removeItem(atPath: path)
        #expect(try lock.shared { $0 } == 0)
    }
}
