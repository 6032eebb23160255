import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Values in a store, some of which are then damaged as a failing medium does it: the modification time stays.
struct RottenValues {
    /// How a value is damaged.
    enum Damage: CaseIterable {
        case flipped, emptied, cut
    }

    let home: Home
    /// The values' names and texts.
    let values: [(name: String, text: String)]

    /// Stores some values of many sizes.
    init(_ home: Home, count: Int) throws {
        self.home = home
        var numbers = SeededGenerator(seed: 1)
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        values = (0..<count).map { index in
            let size = [40, 300, 3000, 5000, 20_000, 300_000][index % 6] + Int.random(in: 0..<30, using: &numbers)
            let text = String((0..<size).map { _ in letters.randomElement(using: &numbers) ?? "a" })
            return ("value-\(index)", text)
        }
        let entries = values.map { "\"\($0.name)\": {\"$text\": \"\($0.text)\"}" }
        let file = "\(home.path)/values.json"
        try Data("{\(entries.joined(separator: ","))}".utf8).write(to: URL(filePath: file))
        try home.done("import", "userDefaults", file)
    }

    /// Damages a value's file.
    func damageFile(_ name: String, _ damage: Damage, _ numbers: inout SeededGenerator) throws {
        let path = home.files("userDefaults/\(name)")
        var before = stat()
        try #require(stat(path, &before) == 0)
        let file = try FileHandle.opened(path)
        defer { close(file) }
        switch damage {
        case .flipped:
            let place = off_t.random(in: 0..<before.st_size, using: &numbers)
            var byte: UInt8 = 0
            try #require(pread(file, &byte, 1, place) == 1)
            byte ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
            try #require(pwrite(file, &byte, 1, place) == 1)
        case .emptied: try #require(ftruncate(file, 0) == 0)
        case .cut: try #require(ftruncate(file, off_t.random(in: 1..<before.st_size, using: &numbers)) == 0)
        }
        var times = [before.st_atim, before.st_mtim]
        try #require(futimens(file, &times) == 0)
    }

    /// Damages a value's bytes in the database file. Emptied or cut bytes become zeros.
    func damageRow(_ text: String, _ damage: Damage, _ numbers: inout SeededGenerator) throws {
        let path = "\(home.path)/data/localdata/values.sqlite"
        let bytes = Array(text.utf8)
        let start = Int.random(in: 0..<bytes.count - 16, using: &numbers)
        let wanted = Data(bytes[start..<start + 16])
        var content = try Data(contentsOf: URL(filePath: path))
        // The bytes are not contiguous in the file where a value continues on another page; try others.
        guard let found = content.firstRange(of: wanted) else { return try damageRow(text, damage, &numbers) }
        let place = found.lowerBound + Int.random(in: 0..<16, using: &numbers)
        switch damage {
        case .flipped: content[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
        case .emptied: content.replaceSubrange(found, with: Data(count: 16))
        case .cut: content.replaceSubrange(place..<found.upperBound, with: Data(count: found.upperBound - place))
        }
        try content.write(to: URL(filePath: path))
    }

    /// Moves everything in the log into the database.
    func checkpoint() throws {
        let ending = try home.shell(
            """
            python3 -c 'import sqlite3
            database = sqlite3.connect("data/localdata/values.sqlite")
            print(database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])'
            """)
        try #require(ending.text == "0\n", "\(ending.errors)")
    }

    private enum FileHandle {
        static func opened(_ path: String) throws -> Int32 {
            let file = open(path, O_RDWR | O_CLOEXEC)
            try #require(file >= 0)
            return file
        }
    }
}
