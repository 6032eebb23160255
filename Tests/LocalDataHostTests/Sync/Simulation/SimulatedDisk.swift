import ByteCoding
import Foundation
import LocalDataAPI
@testable import HostPlugins
@testable import HostSync
@testable import LocalDataHost

/// The content of a simulated device's disk; a copy of it is a backup image.
///
/// Half of the keys are in a store of their own, the others where the progress is.
struct SimulatedDisk {
    var values: [String: LocalValue] = [:]
    var entries: [String: Data] = [:]
    var parked: [String: Data] = [:]
    var progress: Data?
    var losers: Set<String> = []
    /// The number of the last change in the store of their own, and what it was when progress was saved.
    var (changes, knownChanges) = (0, 0)
    /// What a third store has, which serves that half of the keys no more, and is to serve them again.
    var shelf: [String: LocalValue]?
    /// The keys whose values that store had when it began to serve again, if no progress was saved since.
    var returned: Set<String>?

    static func isApart(_ address: String) -> Bool { address.utf8.last.map { $0 % 2 == 1 } ?? false }

    /// Puts the store of half of the keys back to what it was in an image.
    mutating func putBack(_ image: SimulatedDisk, named name: (String) -> String?) {
        values = values.filter { !Self.isApart($0.key) }
        values.merge(image.values.filter { Self.isApart($0.key) }) { $1 }
        let names = Set((0..<100).map { "userDefaults/key\($0)" }.filter(Self.isApart).compactMap(name))
        entries = entries.filter { !names.contains($0.key) }
        entries.merge(image.entries.filter { names.contains($0.key) }) { $1 }
        changes = image.changes
    }

    /// Lets the third store serve, whose values are of an earlier time, and which lacks some. The first time it gets
    /// all: without them, sync refuses to work.
    mutating func switchStores(_ addresses: [String]) {
        let serving = values.filter { Self.isApart($0.key) }
        if let shelf {
            values = values.filter { !Self.isApart($0.key) }
            values.merge(shelf) { $1 }
            // If sync has not run meanwhile, nothing has happened.
            returned = returned == nil ? Set(addresses.filter(Self.isApart)) : nil
        }
        shelf = serving
    }
}

/// A value that is a set of numbers.
struct SimulatedSet {
    let numbers: Set<Int>

    init(_ numbers: Set<Int>) { self.numbers = numbers }
    init(_ data: Data) {
        numbers = Set(String(decoding: data, as: UTF8.self).split(separator: " ").compactMap { Int($0) })
    }

    var data: Data { Data(numbers.sorted().map(String.init).joined(separator: " ").utf8) }
}
