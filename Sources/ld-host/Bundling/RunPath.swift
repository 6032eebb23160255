import Foundation

/// The run path of a linked file: the folders in which ld.so looks for the libraries that the file needs.
///
/// A build system may add some, such as the toolchain's folder, and has no option against it. Layout: System V gABI,
/// chapter 5; elf(5).
struct RunPath {
    private let name: String
    private var bytes: [UInt8]

    /// Reads a file for this machine.
    init(of file: URL) throws {
        name = file.lastPathComponent
        bytes = Array(try Data(contentsOf: file))
        // The magic number, 64 bit, little endian.
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else { throw failure("is not a program or library") }
    }

    /// Keeps one entry, the last one, and overwrites the others, which name folders of this machine.
    ///
    /// - Throws: `CommandFailure` if the file has no such entry at the end of its run path, or two run paths.
    mutating func keep(_ entry: String) throws {
        let found = try entries().filter { [Tag.runPath, Tag.oldRunPath].contains($0.tag) }
        guard found.count == 1 else { throw failure("has \(found.count) run paths, expected one") }
        let start = try texts() + found[0].value
        guard bytes.indices.contains(start), let end = bytes[start...].firstIndex(of: 0) else { throw damage }
        let wanted = Array(entry.utf8)
        let text = bytes[start..<end]
        guard text.elementsEqual(wanted) || text.suffix(wanted.count + 1).elementsEqual(":".utf8 + wanted) else {
            throw failure("has the run path '\(String(decoding: text, as: UTF8.self))', expected '\(entry)' at its end")
        }
        // Linkers let texts share their ends, but nothing else ends with what comes before the entry.
        for index in start..<(end - wanted.count) { bytes[index] = 0 }
        try write(found[0].value + text.count - wanted.count, at: found[0].place + 8)
    }

    /// The changed file.
    var data: Data { Data(bytes) }

    private enum Tag {
        static let texts = 5
        static let oldRunPath = 15
        static let runPath = 29
    }

    private struct Segment {
        let kind, offset, address, size: Int
    }

    private struct Entry {
        let place, tag, value: Int
    }

    private func segments() throws -> [Segment] {
        let (table, size, count) = (try number(at: 32), try number(at: 54, count: 2), try number(at: 56, count: 2))
        return try (0..<count).map { index in
            let start = table + index * size
            return Segment(
                kind: try number(at: start, count: 4), offset: try number(at: start + 8),
                address: try number(at: start + 16), size: try number(at: start + 32))
        }
    }

    /// What the dynamic section says.
    private func entries() throws -> [Entry] {
        guard let section = try segments().first(where: { $0.kind == 2 }) else { throw damage }
        var entries: [Entry] = []
        for place in stride(from: section.offset, to: section.offset + section.size, by: 16) {
            let entry = Entry(place: place, tag: try number(at: place), value: try number(at: place + 8))
            if entry.tag == 0 { break }
            entries.append(entry)
        }
        return entries
    }

    /// Where the texts of the dynamic section begin in the file.
    private func texts() throws -> Int {
        guard let address = try entries().first(where: { $0.tag == Tag.texts })?.value,
            let segment = try segments().first(where: {
                $0.kind == 1 && $0.address <= address && address - $0.address < $0.size
            })
        else { throw damage }
        return segment.offset + address - segment.address
    }

    private func number(at place: Int, count: Int = 8) throws -> Int {
        guard place >= 0, place <= bytes.count - count else { throw damage }
        let value = bytes[place..<place + count].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // More than any file has, so that sums do not overflow.
        return Int(min(value, 1 << 40))
    }

    private mutating func write(_ value: Int, at place: Int) throws {
        guard place >= 0, place <= bytes.count - 8 else { throw damage }
        for index in 0..<8 { bytes[place + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
    }

    private var damage: CommandFailure { failure("is damaged") }

    private func failure(_ finding: String) -> CommandFailure { CommandFailure("'\(name)' \(finding)") }
}
