import DurableFiles
import LocalDataPluginAPI
import Glibc
import Synchronization

/// The headers of segments that were read before. A header never changes.
final class HeaderCache: Sendable {
    private struct Key: Hashable {
        let writer: String
        let name: SegmentName
    }

    private let headers = Mutex<[Key: SegmentHeader]>([:])
    private static let most = 20_000

    /// The header of a segment; `nil` if the file is gone, or has not arrived so far, or is not that segment.
    ///
    /// - Throws: `StorageError`.
    func header(of name: SegmentName, _ writer: String, in directory: DurableDirectory) throws -> SegmentHeader? {
        let key = Key(writer: writer, name: name)
        if let known = headers.withLock({ $0[key] }) { return known }
        guard let file = try directory.openSegment(name), let found = try Self.read(file), found.name == name,
            found.writer == writer
        else { return nil }
        headers.withLock { headers in
            if headers.count >= Self.most { headers.removeAll() }
            headers[key] = found
        }
        return found
    }

    private static func read(_ file: borrowing OpenFile) throws -> SegmentHeader? {
        let start = try bytes(512, of: file)
        guard let length = SegmentHeader.length(of: start) else { return nil }
        let all = try length <= start.count ? Array(start[..<length]) : bytes(length, of: file)
        return all.count == length ? SegmentHeader(all) : nil
    }

    private static func bytes(_ count: Int, of file: borrowing OpenFile) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let filled = try bytes.withUnsafeMutableBytes { try file.read(into: $0, from: 0) }
        return Array(bytes[..<filled])
    }
}

extension DurableDirectory {
    /// Opens a segment; `nil` if it is absent, or something else has its name: a folder, a pipe, a link.
    func openSegment(_ name: SegmentName) throws(StorageError) -> OpenFile? {
        do {
            guard let file = try open(name.path) else { return nil }
            _ = try file.status()
            return file
        } catch {
            guard case .irregularFile = error.cause else { throw error }
            return nil
        }
    }

    /// Whether a segment's file has changed in so many seconds, judging by its time. One from a clock that was further
    /// ahead says nothing: otherwise the file would count as changing until then.
    func hasChanged(_ name: SegmentName, within seconds: Double) throws -> Bool {
        guard let file = try openSegment(name) else { return false }
        guard let modified = try file.status().modified else { return true }
        return abs(Double(Publisher.now) - Double(modified / 1000)) < seconds * 1_000_000
    }

    /// The segments in this folder, oldest first.
    func segmentNames() throws -> [SegmentName] {
        var names: [SegmentName] = []
        try forEachEntry { bytes, kind in
            if kind == .regular, let name = SegmentName(bytes) { names.append(name) }
            return true
        }
        return names.sorted()
    }
}
