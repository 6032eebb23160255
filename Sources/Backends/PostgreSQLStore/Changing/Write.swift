internal import DurableFiles
internal import LocalDataAPI

/// A change of one value, with what it requires of the stored one.
struct Write {
    enum Action {
        /// Stores bytes that stay valid until the change is made.
        case set(UnsafeRawBufferPointer, ValueAttributes?)
        case remove
        /// Changes nothing; only the condition counts.
        case keep
    }

    enum Condition: Equatable {
        case anything
        case absent
        case revision(Int64)

        init(_ condition: WriteCondition) {
            self =
                switch condition {
                case .anything: .anything
                case .absent: .absent
                case .revision(let revision): .revision(Int64(bitPattern: revision))
                }
        }
    }

    let place: StorageNamespace
    let name: UnsafeRawBufferPointer
    let action: Action
    let condition: Condition
    /// The revision that a set gives to the value. It also identifies the write.
    let revision = Revision.new()
    /// The number of the namespace, once it is known.
    var number: Int32 = 0

    init(_ key: PostgreSQLKey, _ action: Action, if condition: Condition = .anything) {
        self.init(place: key.place, name: key.name, action, if: condition)
    }

    init(place: StorageNamespace, name: UnsafeRawBufferPointer, _ action: Action, if condition: Condition = .anything) {
        (self.place, self.name, self.action, self.condition) = (place, name, action, condition)
    }

    /// The same write under a new revision, for another attempt.
    func again() -> Write { Write(place: place, name: name, action, if: condition) }

    /// The bytes of the new value.
    var size: Int { if case .set(let value, _) = action { value.count } else { 0 } }

    /// Whether the value is stored in pieces.
    var isLarge: Bool { size > Piece.threshold }
}

/// The marks of writes.
enum Revision {
    /// A random number that is not 0, so that no two writes have the same.
    static func new() -> Int64 {
        var revision: Int64
        repeat { revision = .random(in: .min ... .max) } while revision == 0
        return revision
    }
}

/// How large values are split.
enum Piece {
    /// The most bytes of a value that stays in its row.
    static let threshold = 1 << 20
    /// The bytes of every piece but the last.
    static let size = 256 << 10
    /// How many pieces one exchange carries.
    static let atOnce = 4
}

extension Write {
    /// The statements that make the change. ``isMade(_:)`` judges their answers.
    var calls: [Call] {
        let key: [Parameter] = [.short(number), .lent(name)]
        switch (action, condition) {
        case (.set(let value, let attributes), .anything): return [Call(.set, row(value, attributes))]
        case (.set(let value, let attributes), .absent): return [Call(.add, row(value, attributes))]
        case (.set(let value, let attributes), .revision(let old)):
            return [Call(.replace, row(value, attributes) + [.integer(old)])]
        case (.remove, .anything): return [Call(.remove, key)]
        case (.remove, .revision(let old)): return [Call(.removeRevision, key + [.integer(old)])]
        case (.keep, .revision(let old)): return [Call(.holdRevision, key + [.integer(old)])]
        case (.remove, .absent), (.keep, .absent):
            return [
                Call(.holdAbsence, key + [.integer(revision)]), Call(.removeRevision, key + [.integer(revision)]),
            ]
        case (.keep, .anything): return []
        }
    }

    /// The statements that store the pieces of a large value, before ``calls``.
    var pieces: [Call] {
        guard isLarge, case .set(let value, _) = action else { return [] }
        return stride(from: 0, to: value.count, by: Piece.size).enumerated().map { index, start in
            let piece = UnsafeRawBufferPointer(rebasing: value[start..<min(start + Piece.size, value.count)])
            return Call(.addPiece, [.integer(revision), .short(Int32(index)), .lent(piece)])
        }
    }

    private func row(_ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes?) -> [Parameter] {
        Self.row(
            number, name, revision, Checksum(of: value), attributes, content: isLarge ? .null : .lent(value))
    }

    /// The parameters of a statement that stores a value.
    static func row(
        _ place: Int32, _ name: UnsafeRawBufferPointer, _ revision: Int64, _ checksum: Checksum,
        _ attributes: ValueAttributes?, content: Parameter
    ) -> [Parameter] {
        [
            .short(place), .lent(name), .integer(revision), attributes?.expires.map { .integer($0) } ?? .null,
            .integer(Int64(checksum.count)),
            .integer(Int64(checksum.value)), Parameter(attributes?.contentType), Parameter(attributes?.serializer),
            Parameter(attributes?.versionTag), Parameter(attributes?.appVersion), Parameter(attributes?.owner), content,
        ]
    }

    /// Whether the change was made, or its condition held, by the answers to ``calls``.
    func isMade(_ answers: ArraySlice<Answer>) -> Bool { condition == .anything || answers.first?.count ?? 0 > 0 }
}
