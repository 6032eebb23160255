/// Bytes that JSON is read from, by their offsets.
package protocol JSONBytes {
    /// The byte at an offset; `nil` behind the end.
    func byte(at offset: Int) -> UInt8?
}

extension JSONBytes where Self: RandomAccessCollection<UInt8>, Index == Int {
    package func byte(at offset: Int) -> UInt8? { offset < endIndex ? self[offset] : nil }
}

extension Array: JSONBytes where Element == UInt8 {}

/// Reads JSON piece by piece, and copies nothing: strictly by RFC 8259, or JSON5 (json5.org).
///
/// Of JSON5 it takes what the toolchain's decoder takes, and on purpose a little less: no `NaN` and `Infinity`, no line
/// continuation in strings (the decoder keeps the line break, JSON5 drops it), no escapes in names without quotes (the
/// decoder leaves them as they are). Names of members and values are up to the caller, so that they need not be read
/// into memory; a ``JSON`` tree reads them all.
package struct JSONCursor<Bytes: JSONBytes> {
    /// An object or an array that is being read.
    package struct Level {
        package let isObject: Bool
        /// Where the comma stands behind the last item, once that is known.
        package fileprivate(set) var comma: Int?
        fileprivate var isFirst = true

        var close: Unicode.Scalar { isObject ? "}" : "]" }
    }

    package let bytes: Bytes
    package let isJSON5: Bool
    package var position: Int

    package init(_ bytes: Bytes, from position: Int = 0, isJSON5: Bool = false) {
        self.bytes = bytes
        self.isJSON5 = isJSON5
        self.position = position
    }

    /// The byte that comes next; `nil` at the end.
    package var current: UInt8? { bytes.byte(at: position) }

    package func isAt(_ character: Unicode.Scalar) -> Bool { current == UInt8(ascii: character) }

    /// Passes over a character if it comes next.
    package mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard isAt(character) else { return false }
        position += 1
        return true
    }

    /// Passes over white space, and in JSON5 over comments. White space is ASCII's, as the decoder has it.
    package mutating func skipSpace() throws(JSONFault) {
        while let byte = current {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            case 0x0B, 0x0C:
                guard isJSON5 else { return }
                position += 1
            case UInt8(ascii: "/"):
                guard isJSON5 else { return }
                try skipComment()
            default: return
            }
        }
    }

    /// Passes over one comment of JSON5, from its first slash; a line comment's line break stays.
    package mutating func skipComment() throws(JSONFault) {
        let start = position
        position += 1
        if take("/") {
            while let byte = current, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") { position += 1 }
        } else if take("*") {
            while current != nil {
                if take("*") { if take("/") { return } } else { position += 1 }
            }
            throw fault(.commentEnd, at: start)
        } else {
            throw fault(.comment, at: start)
        }
    }

    /// Goes into the object, or the array, that comes next; `nil` if something else does.
    package mutating func enter(object isObject: Bool) -> Level? {
        take(isObject ? "{" : "[") ? Level(isObject: isObject) : nil
    }

    /// Whether there is another item, which then comes next. The object or array is left if not.
    package mutating func hasNext(in level: inout Level) throws(JSONFault) -> Bool {
        try skipSpace()
        level.comma = nil
        if take(level.close) { return false }
        if level.isFirst {
            level.isFirst = false
            return true
        }
        guard isAt(",") else { throw fault(level.isObject ? .memberEnd : .elementEnd) }
        level.comma = position
        position += 1
        try skipSpace()
        return !(isJSON5 && take(level.close))
    }

    /// Passes over the colon behind a name, and the white space around it.
    package mutating func skipColon() throws(JSONFault) {
        try skipSpace()
        guard take(":") else { throw fault(.colon) }
        try skipSpace()
    }

    /// Throws unless only white space follows.
    package mutating func end() throws(JSONFault) {
        try skipSpace()
        guard current == nil else { throw fault(.end) }
    }

    /// A fault, here or at an offset.
    package func fault(_ reason: JSONFault.Reason, at offset: Int? = nil) -> JSONFault {
        var fault = JSONFault(reason, at: offset ?? position)
        if isJSON5 { fault.found = scalar(at: fault.offset) }
        return fault
    }

    /// The character at an offset, of bytes that are UTF-8.
    func scalar(at offset: Int) -> Unicode.Scalar? {
        guard let first = bytes.byte(at: offset) else { return nil }
        if first < 0x80 { return Unicode.Scalar(first) }
        let piece = (offset..<(offset + 4)).compactMap { bytes.byte(at: $0) }
        return String(decoding: piece, as: UTF8.self).unicodeScalars.first
    }
}
