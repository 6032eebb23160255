import FoundationEssentials
import Glibc
import TestSupport

/// A program that copies a shared folder between machines, and misbehaves in every way: any order, any part of a file,
/// late, repeated, in older versions, with conflict copies, temporary files and late removals.
struct Copier {
    /// Each device's copy of the shared folder, by the device's name, which is also that of its writer.
    let folders: [String: String]
    var random: SeededGenerator
    /// Whether it removes the files that the writer no longer has.
    var removes = true

    private var devices: [String] { folders.keys.sorted() }

    private func path(_ device: String, _ writer: String, _ file: String = "") -> String {
        "\(folders[device] ?? "")/\(writer)/\(file)"
    }

    private func files(_ device: String, _ writer: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path(device, writer))) ?? [])
            .filter { $0.hasSuffix(".segment") && !$0.contains("conflict") && $0.count == 41 }.sorted()
    }

    private func content(_ path: String) -> [UInt8] { FileManager.default.contents(atPath: path).map(Array.init) ?? [] }

    private func write(_ bytes: some Collection<UInt8>, to path: String) throws {
        try Data(bytes).write(to: URL(filePath: path))
    }

    /// Copies one file of a writer to another device, in a random way.
    mutating func step() throws {
        guard let writer = devices.randomElement(using: &random), let to = devices.randomElement(using: &random),
            let from = devices.randomElement(using: &random), to != writer, from != to,
            let file = files(from, writer).randomElement(using: &random)
        else { return }
        try TemporaryFolder.makeFolder(path(to, writer))
        let source = content(path(from, writer, file))
        let target = path(to, writer, file)
        let known = content(target)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3 where source.count >= known.count:
            // Like Syncthing, with a temporary name that is occasionally left behind.
            let temporary = path(to, writer, ".syncthing.\(file).tmp")
            try write(source, to: temporary)
            if Bool.random(using: &random) { try write(source, to: target) } else { rename(temporary, target) }
        case 4...5 where source.count > known.count:
            try write(source.prefix(Int.random(in: known.count...source.count, using: &random)), to: target)
        case 6:
            // Writes in place, from the beginning, so that the file is shorter for a while.
            try write(source.prefix(Int.random(in: 0...source.count, using: &random)), to: target)
        case 7 where source.count > known.count:
            // Allocates the whole file before its content arrives.
            let arrived = Int.random(in: known.count...source.count, using: &random)
            try write(source[..<arrived] + [UInt8](repeating: 0, count: source.count - arrived), to: target)
        case 8:
            try write(
                source.prefix(source.count / 2),
                to: target.dropLast(8) + ".sync-conflict-20260101-120000-ABCDEFG.segment")
        case 9: try write(source.dropFirst(3), to: path(to, writer, "~syncthing~\(file).tmp"))
        case 10...11 where removes:
            guard let old = files(to, writer).first(where: { !files(writer, writer).contains($0) }) else { return }
            unlink(path(to, writer, old))
        default: break
        }
    }

    /// Makes every device's copy equal to the writers' own files; other files there stay.
    func finish() throws {
        for writer in devices {
            let own = files(writer, writer)
            for device in devices where device != writer {
                try TemporaryFolder.makeFolder(path(device, writer))
                for file in own { try write(content(path(writer, writer, file)), to: path(device, writer, file)) }
                for file in files(device, writer) where !own.contains(file) { unlink(path(device, writer, file)) }
            }
        }
    }

    /// Restores to a writer a part of a file that it has lost, or of the missing end of one.
    ///
    /// - Parameter kept: The folder with its earlier files.
    mutating func bringBackPart(of writer: String, from kept: String) throws {
        try TemporaryFolder.makeFolder(path(writer, writer))
        let files = try FileManager.default.contentsOfDirectory(atPath: kept).sorted()
        guard let file = files.randomElement(using: &random) else { return }
        let (source, known) = (content("\(kept)/\(file)"), content(path(writer, writer, file)))
        guard source.count > known.count else { return }
        let isWhole = Bool.random(using: &random)
        let arrived = isWhole ? source.count : Int.random(in: known.count...source.count, using: &random)
        try write(source[..<arrived], to: path(writer, writer, file))
    }

    /// Restores to a writer the files that it has lost, and the longer versions of those that it has.
    ///
    /// - Parameter kept: The folder with its earlier files.
    func bringBack(_ writer: String, from kept: String) throws {
        try TemporaryFolder.makeFolder(path(writer, writer))
        for file in try FileManager.default.contentsOfDirectory(atPath: kept).sorted() {
            let source = content("\(kept)/\(file)")
            if source.count > content(path(writer, writer, file)).count {
                try write(source, to: path(writer, writer, file))
            }
        }
    }
}
