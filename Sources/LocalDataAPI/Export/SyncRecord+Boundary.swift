package import CLocalData
internal import FoundationEssentials

extension SyncRecord {
    /// The most records, or names, of one call at the boundary.
    package static var mostInOneCall: Int { 1024 }

    /// The most bytes of a writer and of a name.
    package static var longestName: Int { 64 }

    /// The most bytes of a position.
    package static var longestPosition: Int { 4096 }

    /// What the largest record of every transport can hold, in bytes.
    package static var leastLargest: Int { 262_144 }

    /// Whether a writer or a name is 1 to 64 lower case letters, digits and `-`.
    package static func isUsable(_ name: some Collection<UInt8>) -> Bool {
        (1...longestName).contains(name.count)
            && name.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// A writer or a name of the other side.
    ///
    /// - Parameter what: Whose name it is, for the error.
    /// - Throws: `corrupt` with what is impossible about it.
    package static func checkedName(_ bytes: ld_bytes, _ what: String) throws(StorageError) -> String {
        guard let checked = bytes.checked else {
            throw StorageError(.corrupt, "the name of a \(what) has \(bytes.flaw())")
        }
        guard isUsable(checked) else {
            throw StorageError(
                .corrupt,
                "the name of a \(what) is '\(String(decoding: checked.prefix(longestName), as: UTF8.self))' "
                    + "(\(checked.count) bytes); expected 1 to \(longestName) lower case letters, digits and '-'")
        }
        return String(decoding: checked, as: UTF8.self)
    }

    /// A record of the other side, copied.
    ///
    /// - Throws: `corrupt` with what is impossible about it.
    package init(boundary pointer: UnsafePointer<ld_sync_record>?) throws(StorageError) {
        var record = ld_sync_record()
        guard BoundaryStruct.copy(pointer, into: &record, least: ld_sync_record_least_size) else {
            throw StorageError(
                .corrupt,
                "the struct of a record has \(BoundaryStruct.size(pointer)) bytes; "
                    + "expected \(BoundaryStruct.sizes(least: ld_sync_record_least_size))")
        }
        guard let content = record.content.checked else {
            throw StorageError(.corrupt, "the content of a record has \(record.content.flaw())")
        }
        self.init(
            writer: try Self.checkedName(record.writer, "writer"), name: try Self.checkedName(record.name, "record"),
            content: Data(content))
    }

    /// Lends the record in the boundary's format for the duration of `body`.
    package func withBoundary<Result>(_ body: (UnsafePointer<ld_sync_record>) -> Result) -> Result {
        writer.withBytes { writer in
            name.withBytes { name in
                content.withUnsafeBytes { content in
                    var record = ld_sync_record(
                        size: UInt32(MemoryLayout<ld_sync_record>.size), reserved: 0, writer: writer, name: name,
                        content: ld_bytes(data: content.baseAddress, count: content.count))
                    return body(&record)
                }
            }
        }
    }
}
