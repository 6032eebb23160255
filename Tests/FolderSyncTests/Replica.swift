import FoundationEssentials
import LocalDataAPI
import TestSupport
@testable import FolderSync

/// The records of others that a device knows, as the host keeps them.
struct Replica {
    let name: String
    var position: Data?
    /// The greatest number for each of a writer's names.
    var newest: [String: [String: Int]] = [:]
    /// The last received number for each of a writer's names.
    var last: [String: [String: Int]] = [:]
    var delivered = 0
    var positionsLost = 0

    init(_ name: String) { self.name = name }

    /// Fetches at most so many records.
    ///
    /// - Parameter isOrdered: Whether a name's number must never decrease.
    mutating func fetch(from transport: FolderSync, atMost most: Int = .max, isOrdered: Bool = true) throws {
        var failure: String?
        var count = 0
        func take(_ record: SyncRecord) -> Bool {
            guard let numbered = Numbered(record) else {
                failure = "a torn record '\(record.name)' of \(record.writer)"
                return false
            }
            let known = newest[record.writer]?[record.name] ?? 0
            if isOrdered, numbered.number < known { failure = "\(numbered) came after number \(known)" }
            newest[record.writer, default: [:]][record.name] = max(known, numbered.number)
            last[record.writer, default: [:]][record.name] = numbered.number
            count += 1
            return count < most
        }
        do {
            position = try transport.fetch(since: position, take)
        } catch let error as StorageError where error.code == .positionLost {
            positionsLost += 1
            position = nil
            (newest, last) = ([:], [:])
            position = try transport.fetch(since: nil, take)
        }
        delivered += count
        if let failure { throw TestFailure("\(name): \(failure)") }
        guard let position, (1...4096).contains(position.count) else { throw TestFailure("a position of bad size") }
    }
}
