internal import CSecret

/// The encoding of a value as the text of an item.
///
/// Printable text is stored unchanged, so that other programs can read it, and their text is read unchanged. Anything
/// else becomes a data URL (RFC 2397) on one line, with base64 and a parameter that marks it as ours: binary data, text
/// with control characters, and text that looks like such a URL. A newline in a secret would make gnome-keyring 42
/// unable to read its own file if the keyring has no password, and other services return only text. Base64 of other
/// programs is never decoded.
enum SecretLine {
    static let mark = Array("data:application/octet-stream;by=localdata;base64,".utf8)

    /// Lends the text for a value.
    ///
    /// - Parameter keepsEscapes: Whether the service preserves backslashes and leading spaces.
    static func with<Result>(
        _ value: RawSpan, keepsEscapes: () -> Bool, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try value.withUnsafeBytes { bytes in
            if isPrintable(bytes), !isEscape(bytes) || keepsEscapes() { return try body(bytes) }
            let count = mark.count + Base64.encodedCount(bytes.count)
            return try withCleared(count) { line in
                line.copyBytes(from: mark)
                Base64.encode(bytes, to: UnsafeMutableRawBufferPointer(rebasing: line[mark.count...]))
                return try body(UnsafeRawBufferPointer(line))
            }
        }
    }

    /// Lends the value in a text.
    static func read<Result>(_ text: UnsafeRawBufferPointer, _ body: (RawSpan) throws -> Result) rethrows -> Result {
        guard text.starts(with: mark) else { return try body(text.bytes) }
        let letters = UnsafeRawBufferPointer(rebasing: text[mark.count...])
        guard let count = Base64.decodedCount(letters) else { return try body(text.bytes) }
        return try withCleared(count) { value in
            // If someone has edited the line, it is plain text.
            guard Base64.decode(letters, to: value) else { return try body(text.bytes) }
            return try body(UnsafeRawBufferPointer(value).bytes)
        }
    }

    /// Whether bytes are UTF-8 without control characters, and do not start with our mark.
    private static func isPrintable(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !bytes.isEmpty else { return true }
        let text = bytes.assumingMemoryBound(to: CChar.self)
        guard g_utf8_validate_len(text.baseAddress, gsize(bytes.count), nil) != 0 else { return false }
        var last: UInt8 = 0
        for byte in bytes {
            // C0 and DEL; C1 in its two bytes.
            if byte < 0x20 || byte == 0x7F || last == 0xC2 && byte < 0xA0 { return false }
            last = byte
        }
        return !bytes.starts(with: mark)
    }

    /// Whether text contains characters that a key file escapes.
    private static func isEscape(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.first == UInt8(ascii: " ") || bytes.contains(UInt8(ascii: "\\"))
    }

    /// Lends memory that is cleared before it is freed.
    private static func withCleared<Result>(
        _ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer {
            if let address = buffer.baseAddress { explicit_bzero(address, count) }
            buffer.deallocate()
        }
        return try body(buffer)
    }
}
