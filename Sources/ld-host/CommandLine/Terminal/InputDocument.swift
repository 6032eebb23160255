internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost

/// A document that can be read more than once: a file, piece by piece, or what comes through a pipe, which is held in
/// memory. Nothing of it is written anywhere.
final class InputDocument {
    /// Its name in messages.
    let name: String
    /// The file; -1 for what is in memory.
    private let file: CInt
    /// Where the document starts in the file: standard input may have been read up to some place.
    private let start: off_t
    private let data: Data

    /// Opens a file, or standard input for `-`.
    ///
    /// - Throws: `fileError` if it cannot be opened, or if a pipe cannot be read.
    init(_ path: String) throws(StorageError) {
        name = Input.name(of: path)
        if let file = try Input.regularFile(at: path) {
            (self.file, data) = (file, Data())
            start = path == "-" ? max(0, lseek(file, 0, SEEK_CUR)) : 0
        } else {
            (file, start, data) = (-1, 0, try Input.contents(of: path))
        }
    }

    /// One that is in memory.
    init(_ data: Data, named name: String) {
        self.name = name
        self.data = data
        (file, start) = (-1, 0)
    }

    deinit { if file >= 0 { close(file) } }

    /// Fills a buffer with the bytes at an offset; 0 at the end.
    ///
    /// - Throws: `fileError`.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        if file < 0 {
            let piece = data.dropFirst(offset).prefix(buffer.count)
            buffer.copyBytes(from: piece)
            return piece.count
        }
        while true {
            let count = pread(file, buffer.baseAddress, buffer.count, start + off_t(offset))
            if count >= 0 { return count }
            guard errno == EINTR else {
                throw StorageError(.fileError, "\(name) cannot be read: \(String(cString: strerror(errno)))")
            }
        }
    }
}
