/// Who is to be told of the changes of a database.
final class Changes: Sendable {
    func tell(_ key: SQLiteKey) {}
}
