import Foundation
import LocalDataAPI

/// A correct transport in memory. Each broken transport overrides a little of it.
class CorrectTransport: SyncTransport, @unchecked Sendable {
    typealias Notify = @Sendable (SyncNotice) -> Void

    static let place = ComponentOption.path("place", default: "${data}/shared", help: "what the devices share")

    class var component: ComponentInfo {
        ComponentInfo(id: "correct", summary: "keeps every promise", options: [place])
    }

    let largestRecord = 300_000
    let shared: SharedRecords

    required init(options: ComponentOptions, host: HostServices) throws {
        shared = SharedRecords.at(try options.string("place"))
    }

    func publish(_ records: [SyncRecord]) throws {
        for record in records where record.content.count > largestRecord {
            throw StorageError(.valueTooLarge, "the record '\(record.name)' is too large")
        }
        shared.append(records)
    }

    func remove(_ names: [String], of writer: String) throws {
        shared.remove { $0.writer == writer && names.contains($0.name) }
    }

    func fetch(since position: Data?, _ body: (SyncRecord) -> Bool) throws -> Data {
        var next = try number(position)
        for record in shared.records(since: next) {
            next = record.number + 1
            if !body(record.record) { break }
        }
        return Self.position(next)
    }

    func subscribe(_ notify: @escaping Notify) throws -> Int { shared.subscribe(self, notify) }

    func unsubscribe(_ subscription: Int) { shared.unsubscribe(subscription) }

    func cancel() {}

    /// The number of the first record after a position.
    func number(_ position: Data?) throws -> Int {
        guard let position else { return 0 }
        guard position.count == 9, position.last == 0x2e,
            let number = Int(String(decoding: position.prefix(8), as: UTF8.self)),
            number <= shared.count
        else { throw StorageError(.positionLost, "this is no position") }
        return number
    }

    static func position(_ number: Int) -> Data {
        let digits = "\(number)"
        return Data((String(repeating: "0", count: 8 - digits.count) + digits + ".").utf8)
    }
}
