import Foundation
import LocalDataAPI
import Synchronization

enum BrokenTransports {
    final class NeverOpens: CorrectTransport, @unchecked Sendable {
        required init(options: ComponentOptions, host: HostServices) throws {
            throw StorageError(.cannotOpen, "it never opens")
        }
    }

    final class ListsAnOptionTwice: CorrectTransport, @unchecked Sendable {
        override class var component: ComponentInfo {
            ComponentInfo(id: "twice", summary: "lists an option twice", options: [place, place])
        }
    }

    /// Closes the other transport with itself.
    final class ClosesAll: CorrectTransport, @unchecked Sendable {
        private static let closed = Mutex<Set<ObjectIdentifier>>([])

        required init(options: ComponentOptions, host: HostServices) throws {
            try super.init(options: options, host: host)
            Self.closed.withLock { _ = $0.remove(ObjectIdentifier(shared)) }
        }

        deinit { Self.closed.withLock { _ = $0.insert(ObjectIdentifier(shared)) } }

        override func fetch(since position: Data?, _ body: (SyncRecord) -> Bool) throws -> Data {
            guard !Self.closed.withLock({ $0.contains(ObjectIdentifier(shared)) }) else {
                throw StorageError(.storeUnavailable, "it is closed")
            }
            return try super.fetch(since: position, body)
        }
    }

    /// Loses its published records unless another transport is open.
    final class ForgetsAtClose: CorrectTransport, @unchecked Sendable {
        private static let open = Mutex<[ObjectIdentifier: Int]>([:])

        required init(options: ComponentOptions, host: HostServices) throws {
            try super.init(options: options, host: host)
            Self.open.withLock { $0[ObjectIdentifier(shared), default: 0] += 1 }
        }

        deinit {
            let left = Self.open.withLock { open in
                open[ObjectIdentifier(shared), default: 1] -= 1
                return open[ObjectIdentifier(shared)]
            }
            if left == 0 { shared.remove { _ in true } }
        }
    }

    final class TrimsLineFeeds: CorrectTransport, @unchecked Sendable {
        override func publish(_ records: [SyncRecord]) throws {
            try super.publish(
                records.map { record in
                    var record = record
                    if record.content.last == 10 { record.content.removeLast() }
                    return record
                })
        }
    }

    final class DropsEmptyRecords: CorrectTransport, @unchecked Sendable {
        override func publish(_ records: [SyncRecord]) throws {
            try super.publish(records.filter { !$0.content.isEmpty })
        }
    }

    final class RefusesTheLargest: CorrectTransport, @unchecked Sendable {
        override func publish(_ records: [SyncRecord]) throws {
            for record in records where record.content.count == largestRecord { throw StorageError(.valueTooLarge) }
            try super.publish(records)
        }
    }

    final class TakesTooLarge: CorrectTransport, @unchecked Sendable {
        override func publish(_ records: [SyncRecord]) throws {
            try super.publish(records.filter { $0.content.count <= largestRecord })
        }
    }

    final class TakesAThousand: CorrectTransport, @unchecked Sendable {
        override func publish(_ records: [SyncRecord]) throws { try super.publish(Array(records.prefix(1000))) }
    }

    final class CutsNames: CorrectTransport, @unchecked Sendable {
        override func publish(_ records: [SyncRecord]) throws {
            try super.publish(
                records.map { SyncRecord(writer: $0.writer, name: String($0.name.prefix(60)), content: $0.content) })
        }
    }

    /// Keeps only one of two records if their writer and record names are equal when joined.
    final class JoinsNames: CorrectTransport, @unchecked Sendable {
        override func publish(_ records: [SyncRecord]) throws {
            shared.remove { old in
                records.contains { $0.writer != old.writer && Self.joined($0) == Self.joined(old) }
            }
            try super.publish(records)
        }

        private static func joined(_ record: SyncRecord) -> String { "\(record.writer)-\(record.name)" }
    }

    final class RefusesAgain: CorrectTransport, @unchecked Sendable {
        override func publish(_ records: [SyncRecord]) throws {
            let known = shared.records(since: 0).map(\.record)
            if records.count == 1, known.last == records[0] { throw StorageError(.conflict, "it is there already") }
            try super.publish(records)
        }
    }

    final class TurnsBatchesAround: CorrectTransport, @unchecked Sendable {
        override func publish(_ records: [SyncRecord]) throws {
            // Reverses only records with different names, so that the newest record of a name stays the newest.
            let isTurned = records.count == 29
            try super.publish(isTurned ? records.reversed() : records)
        }
    }

    final class KeepsTheFirst: CorrectTransport, @unchecked Sendable {
        override func publish(_ records: [SyncRecord]) throws {
            var names: Set<String> = []
            try super.publish(records.filter { names.insert($0.name).inserted })
        }
    }

    final class ShowsHalves: CorrectTransport, @unchecked Sendable {
        override func publish(_ records: [SyncRecord]) throws {
            guard records.count == 1, records[0].content.count > 8000, records[0].content.count < 10_000 else {
                return try super.publish(records)
            }
            let record = records[0]
            shared.add([SyncRecord(writer: record.writer, name: record.name, content: record.content.prefix(5000))])
            usleep(2000)
            shared.replaceLast(record)
            shared.notify()
        }
    }

    /// Remembers that a position had no newer records, and answers from memory.
    final class RemembersTheEnd: CorrectTransport, @unchecked Sendable {
        private let ends = Mutex<Set<Data>>([])

        override func fetch(since position: Data?, _ body: (SyncRecord) -> Bool) throws -> Data {
            if let position, ends.withLock({ $0.contains(position) }) { return position }
            let reached = try super.fetch(since: position, body)
            if reached == position { ends.withLock { _ = $0.insert(reached) } }
            return reached
        }
    }

    /// Skips the next record when the body stops a fetch.
    final class SkipsOne: CorrectTransport, @unchecked Sendable {
        override func fetch(since position: Data?, _ body: (SyncRecord) -> Bool) throws -> Data {
            var (count, isStopped) = (0, false)
            let reached = try super.fetch(since: position) { record in
                count += 1
                isStopped = !body(record)
                return !isStopped
            }
            let next = try number(reached)
            return isStopped && count > 1 && next < shared.count ? Self.position(next + 1) : reached
        }
    }

    /// Returns the start position if it passed only one record, so that the next fetch passes that one again.
    final class StepsBack: CorrectTransport, @unchecked Sendable {
        override func fetch(since position: Data?, _ body: (SyncRecord) -> Bool) throws -> Data {
            var count = 0
            let reached = try super.fetch(since: position) { record in
                count += 1
                return body(record)
            }
            let start = try number(position)
            return count == 1 && start + 1 < shared.count ? Self.position(start) : reached
        }
    }

    final class ForgetsOldPositions: CorrectTransport, @unchecked Sendable {
        override func fetch(since position: Data?, _ body: (SyncRecord) -> Bool) throws -> Data {
            if try shared.count - number(position) > 1500, position != nil {
                throw StorageError(.positionLost, "that was long ago")
            }
            return try super.fetch(since: position, body)
        }
    }

    final class FailsOnGarbage: CorrectTransport, @unchecked Sendable {
        override func number(_ position: Data?) throws -> Int {
            do { return try super.number(position) } catch { throw StorageError(.corrupt, "it is no number") }
        }
    }

    final class RemovesOfAll: CorrectTransport, @unchecked Sendable {
        override func remove(_ names: [String], of writer: String) throws {
            shared.remove { names.contains($0.name) }
        }
    }

    final class FailsOnAbsent: CorrectTransport, @unchecked Sendable {
        override func remove(_ names: [String], of writer: String) throws {
            let known = shared.records(since: 0).map(\.record)
            guard names.allSatisfy({ name in known.contains { $0.writer == writer && $0.name == name } }) else {
                throw StorageError(.notFound, "a record is not there")
            }
            try super.remove(names, of: writer)
        }
    }

    final class BuriesNames: CorrectTransport, @unchecked Sendable {
        private let buried = Mutex<Set<String>>([])

        override func publish(_ records: [SyncRecord]) throws {
            try super.publish(
                records.filter { record in !buried.withLock { $0.contains("\(record.writer)/\(record.name)") } })
        }

        override func remove(_ names: [String], of writer: String) throws {
            try super.remove(names, of: writer)
            buried.withLock { $0.formUnion(names.map { "\(writer)/\($0)" }) }
        }
    }

    /// Shows others a record only after its own next publication or fetch.
    final class HoldsBack: CorrectTransport, @unchecked Sendable {
        private let held = Mutex<[SyncRecord]>([])

        deinit { release() }

        override func publish(_ records: [SyncRecord]) throws {
            try held.withLock { held in
                shared.add(held)
                held = []
                for record in records where record.content.count > largestRecord { throw StorageError(.valueTooLarge) }
                held = records
            }
            shared.notify()
        }

        override func fetch(since position: Data?, _ body: (SyncRecord) -> Bool) throws -> Data {
            release()
            return try super.fetch(since: position, body)
        }

        private func release() {
            held.withLock { held in
                shared.add(held)
                held = []
            }
        }
    }

    /// Loses one of two records that devices publish at the same time.
    final class LosesOneOfTwoDevices: CorrectTransport, @unchecked Sendable {
        private static let publishing = Mutex<[ObjectIdentifier: Set<ObjectIdentifier>]>([:])

        override func publish(_ records: [SyncRecord]) throws {
            let (place, device) = (ObjectIdentifier(shared), ObjectIdentifier(self))
            let isAlone = Self.publishing.withLock { publishing in
                publishing[place, default: []].insert(device)
                return publishing[place]?.count == 1
            }
            defer { Self.publishing.withLock { _ = $0[place]?.remove(device) } }
            usleep(1000)
            if isAlone { try super.publish(records) }
        }
    }

    /// Loses one of two records that threads publish at the same time.
    final class LosesOneOfTwo: CorrectTransport, @unchecked Sendable {
        private let publishing = Atomic<Int>(0)

        override func publish(_ records: [SyncRecord]) throws {
            let isAlone = publishing.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue == 1
            defer { publishing.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
            usleep(1000)
            if isAlone { try super.publish(records) }
        }
    }

    /// Notifies only the device that publishes.
    final class DeafToOthers: CorrectTransport, @unchecked Sendable {
        override func publish(_ records: [SyncRecord]) throws {
            for record in records where record.content.count > largestRecord { throw StorageError(.valueTooLarge) }
            shared.add(records)
            shared.notify(only: self)
        }
    }

    final class NotifiesEarly: CorrectTransport, @unchecked Sendable {
        override func publish(_ records: [SyncRecord]) throws {
            for record in records where record.content.count > largestRecord { throw StorageError(.valueTooLarge) }
            shared.notify()
            usleep(20_000)
            shared.add(records)
        }
    }

    final class NeverEnds: CorrectTransport, @unchecked Sendable {
        override func unsubscribe(_ subscription: Int) {
            // Waits until a running notification has ended, as it should.
            shared.unsubscribe(-1)
        }
    }

    final class EndsAtOnce: CorrectTransport, @unchecked Sendable {
        override func unsubscribe(_ subscription: Int) { shared.unsubscribeAtOnce(subscription) }
    }

    final class StaysCancelled: CorrectTransport, @unchecked Sendable {
        private let isCancelled = Atomic<Bool>(false)

        override func publish(_ records: [SyncRecord]) throws {
            if isCancelled.load(ordering: .relaxed) { throw StorageError(.cancelled, "it was cancelled") }
            try super.publish(records)
        }

        override func cancel() { isCancelled.store(true, ordering: .relaxed) }
    }
}
