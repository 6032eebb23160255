/// The statements of a store, except those that create its tables.
enum StoreStatement: Int, CaseIterable {
    case other
    case begin, beginReading, commit, rollback
    case session, lockSession, synchronize, keepAlive, confine
    case findPlace, addPlace, places
    case exists, value, describedValue, attributes, names, expired, values, pieces, revision
    case set, add, replace, remove, removeRevision
    case setAndMark, addAndMark, replaceAndMark, removeAndMark, removeRevisionAndMark, mark, marked, cleanMarks
    case addPiece, holdRevision, holdAbsence
    case enter, waitLimit, endSession, awaitSession, awaitWrite, fence, cleanFences
    case changes, running, addWatcher, replayed
    case strayPieces
    case discard, sweep
    case lock, tryLock, lockInTransaction, unlock, ping

    /// The name under which a link prepares it.
    var name: String { Self.preparedNames[rawValue] }
    private static let preparedNames = allCases.map { "localdata_\($0.rawValue)" }

    /// Whether it is worth preparing.
    var isPrepared: Bool {
        switch self {
        case .other, .begin, .beginReading, .commit, .rollback, .session, .lockSession, .synchronize, .keepAlive:
            false
        case .waitLimit, .endSession, .awaitSession, .awaitWrite, .fence, .cleanFences, .strayPieces, .lock, .tryLock:
            false
        case .marked, .cleanMarks, .confine: false
        case .lockInTransaction, .unlock, .ping: false
        default: true
        }
    }

    /// The text for the tables of a schema.
    ///
    /// - Parameter schema: A harmless name; see ``PostgreSQLOptions``.
    func text(_ schema: String) -> String {
        switch self {
        case .other: ""
        case .begin: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
        case .beginReading: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .session, .lockSession, .synchronize, .keepAlive, .confine, .enter, .waitLimit, .endSession, .awaitSession,
            .awaitWrite, .fence, .cleanFences, .mark, .marked, .cleanMarks:
            outcomeText(schema)
        case .lock, .tryLock, .lockInTransaction, .unlock, .ping: lockText
        case .set, .add, .replace, .remove, .removeRevision, .addPiece, .holdRevision, .holdAbsence, .discard,
            .sweep, .setAndMark, .addAndMark, .replaceAndMark, .removeAndMark, .removeRevisionAndMark:
            changeText(schema)
        default: readText(schema)
        }
    }

    /// The server's time in nanoseconds since 1970.
    static let now = "(extract(epoch FROM clock_timestamp()) * 1000000)::int8 * 1000"
    /// The time of the transaction's begin, which an index can be searched for.
    static let start = "(extract(epoch FROM now()) * 1000000)::int8 * 1000"
    /// The condition of a row that has not expired.
    static let isLive = "(v.expires IS NULL OR v.expires > \(now))"
}

/// The texts of all statements for one schema.
struct StatementTexts: Sendable {
    private let texts: [String]

    init(schema: String) { texts = StoreStatement.allCases.map { $0.text(schema) } }

    subscript(_ statement: StoreStatement) -> String { texts[statement.rawValue] }
}
