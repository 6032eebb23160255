import ByteCoding
import DurableFiles
import LocalDataPluginAPI
import Synchronization

/// A value's revision is the number that its write has recorded, with the file's size and modification time, so that an
/// edit in place changes it. For files that others have made, it is a hash of what identifies the file.
extension FileStore: ConditionalBackend {
    func get(_ key: FileKey, _ deliver: (UInt64, ValueAttributes, RawSpan) -> Void) throws -> Bool {
        guard let file = try key.place.open(key.path) else { return false }
        var found: DescribedContent?
        func record(_ described: DescribedContent) throws -> ContentRecord? {
            try described.recorded.refuseExpired()
            found = described
            return described.record
        }
        let state = try file.read(
            expecting: { try record(key.described($0, of: file)) },
            // The bytes are not of the record known so far; those of another one have its attributes.
            recorded: { try record(StoredAttributes.described(of: file, file.status())) },
            { value in if let found { deliver(found.revision, found.attributes, value) } })
        if state == .edited { noteEdit(file.path) }
        return true
    }

    func set(
        _ key: FileKey, to value: RawSpan, attributes: ValueAttributes?, if condition: WriteCondition
    ) throws -> UInt64? {
        try requireAttributes(in: key.place, for: "the revision of a value")
        guard let expectations = try expectations(key, condition) else { return nil }
        if attributes?.expires != nil { try expectExpiry(in: key.place) }
        let written = WrittenRevision()
        let attribute = try StoredAttributes.encoded(attributes, written)
        let change = try value.withUnsafeBytes { value in
            try batches.apply(
                [FileChange(in: key.place, key.path, attribute: attribute) { try $0(value) }],
                onlyIf: expectations)
        }
        return change ? written.revision : nil
    }

    func remove(_ key: FileKey, ifRevision revision: UInt64) throws -> Bool {
        guard let expectations = try expectations(key, .revision(revision)) else { return false }
        return try batches.apply([FileChange(in: key.place, key.path, content: nil)], onlyIf: expectations)
    }

    /// The state of a file that fulfils a condition; `nil` if the condition is not fulfilled.
    private func expectations(_ key: FileKey, _ condition: WriteCondition) throws -> [FileExpectation]? {
        if condition == .anything { return [] }
        guard let file = try key.place.open(key.path) else {
            return condition == .absent ? [FileExpectation(absent: key.path, in: key.place)] : nil
        }
        // Before the attribute is read: a later change of the file then violates the expectation.
        let expectation = try FileExpectation(key.path, in: key.place, file)
        let recorded = try StoredAttributes.recorded(of: file)
        let found = recorded.isExpired ? nil : Self.revision(recorded.revision, try file.status())
        return condition.isFulfilled(by: found) ? [expectation] : nil
    }

    /// The revision of a file's value.
    static func revision(_ recorded: UInt64?, _ status: FileStatus) -> UInt64 {
        guard let recorded else { return max(1, status.fingerprint) }
        return revision(recorded, size: status.size, modified: status.modified ?? 0)
    }

    fileprivate static func revision(_ recorded: UInt64, size: Int, modified: Int64) -> UInt64 {
        var hash = StableHash.start
        withUnsafeBytes(of: (recorded, UInt64(size), modified)) { StableHash.add($0, to: &hash) }
        return max(1, hash)
    }
}

/// The revision that a write gives a file.
private final class WrittenRevision: Sendable {
    private let number = Mutex<UInt64>(0)

    var revision: UInt64 { number.withLock { $0 } }

    func note(_ drawn: UInt64, _ record: ContentRecord) {
        number.withLock { $0 = FileStore.revision(drawn, size: record.size, modified: record.modified) }
    }
}

extension StoredAttributes {
    /// The attribute for a file whose revision is needed.
    fileprivate static func encoded(
        _ attributes: ValueAttributes?, _ written: WrittenRevision
    ) throws -> FileAttribute {
        try encoded(attributes) { written.note($0, $1) }
    }
}
