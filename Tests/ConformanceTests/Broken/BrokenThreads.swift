import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataTesting
import Synchronization

enum BrokenThreads {
    /// Lets other threads run, so that their calls fall between two steps.
    static func letOthersRun(_ times: Int = 20) { for _ in 0..<times { sched_yield() } }

    /// Gives the old value to the first thread that reads a value which another thread has replaced. (Only of 64
    /// bytes.)
    final class ShowsItLate: CorrectStore, @unchecked Sendable {
        private let late = Mutex<[StorageAddress: (old: Data, writer: pthread_t)]>([:])

        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            var old: Data?
            _ = try super.get(key) { span in old = span.withUnsafeBytes { Data($0) } }
            try super.set(key, to: value, attributes: attributes)
            let isLate = value.byteCount == 64 && old?.count == 64
            late.withLock { $0[key] = isLate ? old.map { ($0, pthread_self()) } : nil }
        }

        override func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) throws -> Bool {
            let old: Data? = late.withLock { late in
                guard let entry = late[key], entry.writer != pthread_self() else { return nil }
                late[key] = nil
                return entry.old
            }
            guard let old else { return try super.get(key, deliver) }
            deliver(old.bytes)
            return true
        }
    }

    /// Loses one of two values that are stored at once under two names.
    final class LosesOneOfTwo: CorrectStore, @unchecked Sendable {
        private let underWay = Mutex<[StorageAddress: Int]>([:])

        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            underWay.withLock { $0[key, default: 0] += 1 }
            BrokenThreads.letOthersRun()
            let isAlone = underWay.withLock { underWay in
                underWay[key, default: 0] -= 1
                if underWay[key] == 0 { underWay[key] = nil }
                return underWay.keys.allSatisfy { $0 == key }
            }
            if isAlone { try super.set(key, to: value, attributes: attributes) }
        }
    }

    /// Reads a value in two steps.
    final class TearsReads: CorrectStore, @unchecked Sendable {
        override func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) throws -> Bool {
            var whole = Data()
            guard try super.get(key, { span in whole = span.withUnsafeBytes { Data($0) } }) else { return false }
            BrokenThreads.letOthersRun()
            _ = try super.get(key) { span in
                guard span.byteCount == whole.count else { return }
                let half = whole.count / 2
                whole = whole.prefix(half) + span.extracting(droppingFirst: half).withUnsafeBytes { Data($0) }
            }
            deliver(whole.bytes)
            return true
        }
    }

    /// Removes the old value before it stores the new one.
    final class RemovesFirst: CorrectStore, @unchecked Sendable {
        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            if value.byteCount <= Self.limit, try super.remove(key) { BrokenThreads.letOthersRun() }
            try super.set(key, to: value, attributes: attributes)
        }
    }
}
