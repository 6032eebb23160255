internal import LocalDataAPI
internal import LocalDataHost

/// A message of the pipe: `LocalDataAPI.docc/Pipe.md` specifies its bytes.
struct PipeFrame {
    /// The most bytes of a value.
    static let longestValue = 64 << 20
    /// The most bytes of a request's header.
    static let longestHeader = 64 << 10

    /// A JSON object in UTF-8.
    let header: SecretSlice
    /// The bytes behind it.
    let value: SecretSlice

    /// Reads a frame; `nil` if the input ends before it.
    ///
    /// - Throws: `deserializationFailed` if the input is no frame, or ends in one; `valueTooLarge` for one that is
    ///   larger than any value may be; what `source` throws.
    init?(from source: SecretBuffer.Source) throws(StorageError) {
        let numbers = SecretBuffer()
        guard try Self.fill(numbers, to: 4, from: source, mayBeMissing: true) else { return nil }
        let size = Self.number(numbers, at: 0)
        guard size <= 4 + Self.longestHeader + Self.longestValue else {
            throw StorageError(
                .valueTooLarge,
                "a frame says that it has \(size) bytes; a value has at most \(Self.longestValue), a header "
                    + "\(Self.longestHeader)",
                hint: "store larger values with: ld-host set --stdin")
        }
        guard size >= 4 else { throw Self.malformed("a frame of \(size) bytes has no room for its header's size") }
        _ = try Self.fill(numbers, to: 8, from: source)
        let headerSize = Self.number(numbers, at: 4)
        guard headerSize <= min(size - 4, Self.longestHeader) else {
            throw Self.malformed(
                "a header of \(headerSize) bytes in a frame of \(size); expected at most \(Self.longestHeader)")
        }
        let content = SecretBuffer()
        _ = try Self.fill(content, to: size - 4, from: source)
        header = content.slice[0..<headerSize]
        value = content.slice[headerSize..<content.count]
    }

    /// The bytes of a frame before its value.
    static func start(header: some Collection<UInt8>, valueSize: Int) -> SecretBuffer {
        let start = SecretBuffer()
        for number in [4 + header.count + valueSize, header.count] {
            let bytes = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
            start.append(contentsOf: bytes)
        }
        start.append(contentsOf: header)
        return start
    }

    private static func number(_ buffer: SecretBuffer, at index: Int) -> Int {
        buffer.slice[index..<(index + 4)].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads until the buffer has `count` bytes, in pieces, so that memory is taken for what comes and not for what is
    /// announced.
    private static func fill(
        _ buffer: SecretBuffer, to count: Int, from source: SecretBuffer.Source, mayBeMissing: Bool = false
    ) throws(StorageError) -> Bool {
        while buffer.count < count {
            if try buffer.append(upTo: min(count - buffer.count, 256 << 10), from: source) > 0 { continue }
            guard mayBeMissing, buffer.count == 0 else { throw malformed("the input ends in the middle of a frame") }
            return false
        }
        return true
    }

    static func malformed(_ what: String) -> StorageError {
        StorageError(
            .deserializationFailed, what,
            hint: "what follows cannot be understood; see the guide Pipe.md, which is installed in "
                + "share/doc/localdata")
    }
}
