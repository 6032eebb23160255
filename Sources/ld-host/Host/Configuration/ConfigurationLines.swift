internal import JSON

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
