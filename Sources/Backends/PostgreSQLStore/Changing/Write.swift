internal import DurableFiles
internal import Glibc
internal import LocalDataPluginAPI

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
    /// The revision that a set gives to the value. It also identifies the write, and if that is the first of its
    /// transaction, all of them.
    let revision: Int64
    /// The number of the namespace, once it is known.
    var number: Int32 = 0

    init(
        _ key: PostgreSQLKey, _ action: Action, if condition: Condition = .anything, revision: Int64 = Revision.new()
    ) {
        self.init(place: key.place, name: key.name, action, if: condition, revision: revision)
    }

    init(
        place: StorageNamespace, name: UnsafeRawBufferPointer, _ action: Action, if condition: Condition = .anything,
        revision: Int64 = Revision.new()
    ) {
        (self.place, self.name, self.action, self.condition) = (place, name, action, condition)
        self.revision = revision
    }

    /// The same write under a new revision, for another attempt.
    func again() -> Write { Write(place: place, name: name, action, if: condition) }

    /// The bytes of the new value.
    var size: Int { if case .set(let value, _) = action { value.count } else { 0 } }

    /// Whether the value is stored in pieces.
    var isLarge: Bool { size > ValuePieces.threshold }
}

/// The marks of writes: random numbers that are not 0, so that no two writes have the same.
enum Revision {
    static func new() -> Int64 { several(1)[0] }

    /// Draws many at once, in place of one call of the kernel for each.
    static func several(_ count: Int) -> [Int64] {
        var revisions = [Int64](repeating: 0, count: count)
        revisions.withUnsafeMutableBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: atOnce) {
                let part = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<min(start + atOnce, bytes.count)])
                // An old kernel or a filter refuses. Swift's own generator has other ways, and ends the process.
                guard getentropy(part.baseAddress, part.count) != 0 else { continue }
                for index in part.indices { part[index] = .random(in: .min ... .max) }
            }
        }
        for index in revisions.indices {
            while revisions[index] == 0 { revisions[index] = .random(in: .min ... .max) }
        }
        return revisions
    }

    /// The most bytes of one call, see getentropy(3).
    private static let atOnce = 256
}

/// How large values are split.
enum ValuePieces {
    /// The most bytes of a value that stays in its row.
    static let threshold = 1 << 20
    /// The bytes of every piece but the last.
    static let size = 256 << 10
    /// How many pieces one exchange carries.
    static let atOnce = 4
}

extension Write {
    /// Adds the statements that make the change. ``isMade(_:)`` judges their answers.
    ///
    /// - Parameter link: The link in whose name the change, if it is made, is marked; `nil` if ``mark(on:)`` marks it.
    /// - Returns: How many there are.
    func add(to calls: inout [StatementCall], marking link: Int64? = nil) -> Int {
        var key: [Parameter] { [.short(number), .lent(name)] }
        let mark = link.map { [Parameter.integer($0)] } ?? []
        let markOfRemoval = link == nil ? [] : mark + [.integer(revision)]
        switch (action, condition) {
        case (.set(let value, let attributes), .anything):
            calls.append(StatementCall(link == nil ? .set : .setAndMark, row(value, attributes) + mark))
        case (.set(let value, let attributes), .absent):
            calls.append(StatementCall(link == nil ? .add : .addAndMark, row(value, attributes) + mark))
        case (.set(let value, let attributes), .revision(let old)):
            calls.append(
                StatementCall(link == nil ? .replace : .replaceAndMark, row(value, attributes) + [.integer(old)] + mark)
            )
        case (.remove, .anything):
            calls.append(StatementCall(link == nil ? .remove : .removeAndMark, key + markOfRemoval))
        case (.remove, .revision(let old)):
            let statement = link == nil ? StoreStatement.removeRevision : .removeRevisionAndMark
            calls.append(StatementCall(statement, key + [.integer(old)] + markOfRemoval))
        case (.keep, .revision(let old)): calls.append(StatementCall(.holdRevision, key + [.integer(old)]))
        case (.remove, .absent), (.keep, .absent):
            calls.append(StatementCall(.holdAbsence, key + [.integer(revision)]))
            calls.append(StatementCall(.removeRevision, key + [.integer(revision)]))
            return 2
        case (.keep, .anything): return 0
        }
        return 1
    }

    /// The statement that marks this write, and all others of its transaction, as made.
    func mark(on link: Int64) -> StatementCall { StatementCall(.mark, [.integer(link), .integer(revision)]) }

    /// The statements that store the pieces of a large value, before those of ``add(to:)``.
    var pieces: [StatementCall] {
        guard isLarge, case .set(let value, _) = action else { return [] }
        return stride(from: 0, to: value.count, by: ValuePieces.size).enumerated().map { index, start in
            let piece = UnsafeRawBufferPointer(rebasing: value[start..<min(start + ValuePieces.size, value.count)])
            return StatementCall(.addPiece, [.integer(revision), .short(Int32(index)), .lent(piece)])
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

    /// Whether a value was to be stored on any condition, and no row was: a rule or a trigger of the database leaves it
    /// out.
    func isLeftOut(_ answers: ArraySlice<ResultRows>) -> Bool {
        guard case (.set, .anything) = (action, condition) else { return false }
        return answers.first?.count ?? 0 == 0
    }

    /// Whether the change was made, or its condition held, by the answers to the statements of ``add(to:)``.
    func isMade(_ answers: ArraySlice<ResultRows>) -> Bool { condition == .anything || answers.first?.count ?? 0 > 0 }
}
