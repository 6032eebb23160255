internal import DurableFiles
internal import Glibc
internal import JSON
package import LocalDataAPI

/// The text of one configuration file, with its value and the places of everything in it.
///
/// The text is JSON5 (json5.org) in UTF-8 and holds one object; an empty text or one with only comments stands for the
/// empty object. Beyond what the toolchain's JSON5 decoder refuses, these are errors: a repeated key, nesting deeper
/// than 64, more than 1 MiB, `NaN` and `Infinity`, a line continuation in a string, an escape in an unquoted key.
package struct ConfigurationDocument: Sendable {
    /// The most bytes a text may have.
    package static let maximumSize = 1 << 20
    /// Nesting beyond this is refused, which also bounds the stack.
    package static let maximumDepth = 64

    /// The text, byte for byte as it was given or edited, a byte order mark included.
    package let text: String
    /// Where the text comes from, usually the file's path.
    package let source: String
    /// The content of the text; always an object.
    package let value: JSONValue

    let bytes: [UInt8]
    let lines: ConfigurationLines
    /// Nil if the text holds no value.
    let root: JSON?

    /// Reads a text.
    ///
    /// - Parameter source: The name of the text in errors, usually the file's path.
    /// - Throws: `invalidConfiguration`, with source, line and column, and what was expected there.
    package init(text: String, source: String) throws(StorageError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumSize else {
            throw StorageError(
                .invalidConfiguration,
                "\(source): expected at most \(Self.maximumSize) bytes, found \(bytes.count)")
        }
        let lines = ConfigurationLines(bytes)
        do throws(JSONFault) {
            root = try JSON.read(bytes, deepest: Self.maximumDepth, isJSON5: true)
            if let root, !root.isObject { throw JSONFault(.object, at: root.range.lowerBound) }
            value = try root.map { (root) throws(JSONFault) in try JSONValue(root) } ?? .object([:])
        } catch {
            throw error.located(in: source, lines: lines)
        }
        self.text = text
        self.source = source
        self.bytes = bytes
        self.lines = lines
    }

    /// Reads the bytes of a file.
    ///
    /// - Throws: `invalidConfiguration`; for bytes that are not UTF-8 with the line of the first of them.
    package init(bytes: [UInt8], source: String) throws(StorageError) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            let repaired = String(decoding: bytes, as: UTF8.self).utf8
            let offset = zip(repaired, bytes).enumerated().first { $1.0 != $1.1 }?.offset ?? bytes.count
            let (line, column) = ConfigurationLines(bytes).place(of: offset)
            throw StorageError(
                .invalidConfiguration, "\(source):\(line):\(column): expected UTF-8 text, found other bytes",
                hint: "save the file as UTF-8")
        }
        try self.init(text: text, source: source)
    }

    /// Line and column, from 1, of a member's key or an element's value; nil if the text has no such path.
    package func place(of path: [String]) -> (line: Int, column: Int)? {
        root?.member(at: path).map { lines.place(of: $0.nameRange.lowerBound) }
    }

    /// Line and column, from 1, at which the value at a path begins; the empty path is the whole value.
    package func valuePlace(of path: [String]) -> (line: Int, column: Int)? {
        let node = path.isEmpty ? root : root?.member(at: path)?.value
        return node.map { lines.place(of: $0.range.lowerBound) }
    }

    /// The bytes of a member's key and of its value in the text's UTF-8; nil if the text has no such path.
    package func ranges(of path: [String]) -> (key: Range<Int>, value: Range<Int>)? {
        root?.member(at: path).map { ($0.nameRange, $0.value.range) }
    }
}

extension ConfigurationDocument {
    /// Reads a file; nil if absent at the path.
    ///
    /// Never waits: what is no regular file - a FIFO, a device, a directory - is refused without reading it. Only the
    /// null device counts as a file without settings. At most `maximumSize` bytes are read, also from a file that grows
    /// meanwhile.
    ///
    /// - Parameter isOwn: Whether the file has to be the effective user's or root's, since nobody named it.
    /// - Throws: `permissionDenied` if the file may not be read, `fileError` if it cannot be, `invalidConfiguration`
    ///   if it is no regular file, another user's, empty, too large, or not well formed.
    package init?(path: String, isOwn: Bool = false) throws(StorageError) {
        let file = Ownership.openGiven(path)
        guard file >= 0 else {
            // ENOTDIR: a home of /dev/null, as service users have, has no configuration either.
            if errno == ENOENT || errno == ENOTDIR { return nil }
            let code = errno
            if code == EILSEQ { _ = try HostConfiguration.target(of: path) }
            // Not a loop of links, which leads nowhere.
            var status = stat()
            if code == ELOOP, stat(path, &status) == 0 || errno != ELOOP {
                throw StorageError(
                    .invalidConfiguration,
                    "configuration \(path): it is a link, or leads to one, that another user can turn elsewhere",
                    hint: "find out who made the link, and name the file itself")
            }
            throw Self.fileError(path, "cannot be opened", code)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Self.fileError(path, "cannot be examined", errno) }
        if Self.isNullDevice(status) {
            try self.init(text: "{}", source: path)
            return
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(
                .invalidConfiguration,
                "configuration \(path): expected a regular file, found \(Self.kind(of: status.st_mode))")
        }
        if isOwn { try Self.requireOwner(status.st_uid, path) }
        guard status.st_size <= Self.maximumSize else { throw Self.tooLarge(path, "\(status.st_size)") }
        let bytes = try Self.contents(of: file, path: path)
        // What an interrupted copy or a full disk left; taken for settings, it would set every domain to its default.
        guard bytes.contains(where: { !Self.space.contains($0) }) else {
            throw StorageError(
                .invalidConfiguration, "configuration \(path): expected an object in braces, found an empty file",
                hint: "restore it from a backup, or start with the defaults: echo '{}' > '\(path)'")
        }
        try self.init(bytes: bytes, source: path)
    }

    /// The bytes of white space in JSON.
    static let space: Set<UInt8> = [0x09, 0x0A, 0x0D, 0x20]

    /// Whether a path leads to the null device, such as `/dev/null`, which nobody can write settings to.
    package static func isNullDevice(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && isNullDevice(status)
    }

    /// Whether a file is Linux's device of the numbers 1 and 3.
    private static func isNullDevice(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFCHR && status.st_rdev == 1 << 8 | 3
    }

    /// Another user may have put the file into a folder that others can write to: it says where values are stored.
    private static func requireOwner(_ owner: uid_t, _ path: String) throws(StorageError) {
        let user = geteuid()
        guard owner != user, owner != 0 else { return }
        let expected = user == 0 ? "uid 0 (root)" : "uid \(user) or uid 0 (root)"
        throw StorageError(
            .invalidConfiguration, "configuration \(path): expected a file of \(expected), found one of uid \(owner)",
            hint: "if you trust its content, replace it with a copy that you own; otherwise remove it")
    }

    private static func contents(of file: Int32, path: String) throws(StorageError) -> [UInt8] {
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw fileError(path, "cannot be read", errno)
            }
            if count == 0 { return contents }
            contents.append(contentsOf: buffer[..<count])
            if contents.count > maximumSize { throw tooLarge(path, "more") }
        }
    }

    private static func tooLarge(_ path: String, _ found: String) -> StorageError {
        StorageError(
            .invalidConfiguration, "configuration \(path): expected at most \(maximumSize) bytes, found \(found)")
    }

    private static func fileError(_ path: String, _ reason: String, _ number: Int32) -> StorageError {
        let isRefusal = number == EACCES || number == EPERM
        return StorageError(
            isRefusal ? .permissionDenied : .fileError,
            "configuration \(path) \(reason): \(String(cString: strerror(number)))",
            hint: isRefusal ? "make it and the directories above it readable for this user" : "")
    }

    private static func kind(of mode: mode_t) -> String {
        switch mode & S_IFMT {
        case S_IFDIR: "a directory"
        case S_IFIFO: "a FIFO"
        case S_IFCHR, S_IFBLK: "a device"
        default: "another kind of file"
        }
    }
}

/// Where the lines of a text begin, to turn byte offsets into lines and columns.
struct ConfigurationLines: Sendable {
    private let bytes: [UInt8]
    private let starts: [Int]

    /// Lines end at LF, CR LF or CR, as the decoder counts them.
    init(_ bytes: [UInt8]) {
        var starts = [0]
        for (offset, byte) in bytes.enumerated() {
            let endsLine =
                byte == UInt8(ascii: "\n")
                || (byte == UInt8(ascii: "\r")
                    && (offset + 1 == bytes.count || bytes[offset + 1] != UInt8(ascii: "\n")))
            if endsLine { starts.append(offset + 1) }
        }
        self.bytes = bytes
        self.starts = starts
    }

    /// Line and column of a byte, from 1; columns count Unicode scalars, and a byte order mark does not count.
    func place(of offset: Int) -> (line: Int, column: Int) {
        let line = lineIndex(of: offset)
        let scalars = bytes[starts[line]..<max(starts[line], min(offset, bytes.count))].count { $0 & 0xC0 != 0x80 }
        let mark = line == 0 && offset >= 3 && bytes.starts(with: JSON.byteOrderMark) ? 1 : 0
        return (line + 1, scalars - mark + 1)
    }

    /// The offset at which the line of a byte begins.
    func lineStart(of offset: Int) -> Int { starts[lineIndex(of: offset)] }

    private func lineIndex(of offset: Int) -> Int {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= offset { low = middle } else { high = middle }
        }
        return low
    }
}
