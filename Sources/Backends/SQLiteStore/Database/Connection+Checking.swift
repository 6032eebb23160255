import LocalDataAPI

extension Connection {
    /// Checks everything in a snapshot of one moment, and reports problems until `report` returns `false`.
    func check(_ report: (String) -> Bool) throws {
        var wantsMore = true
        func tell(_ line: String) {
            // SQLite's answer if there are no problems.
            if wantsMore, line != "ok" { wantsMore = report("'\(path)': \(line)") }
        }
        try snapshot {
            do {
                for question in ["PRAGMA integrity_check(100)"] + Self.questions where wantsMore {
                    try forEachRow(question, tell)
                }
            } catch let error as StorageError where error.code == .corrupt {
                // So damaged that the check cannot be completed.
                tell(error.message)
            }
        }
    }

    /// Rules that the tables do not enforce. The reports contain names, but no values.
    private static let questions = [
        """
        SELECT 'the value ' || quote(name) || ' is of a place that there is not' FROM value
        WHERE place NOT IN (SELECT id FROM place) LIMIT 100
        """,
        """
        SELECT 'the value ' || quote(name) || ' has ' || length(content) || ' bytes, not ' || size FROM value
        WHERE content IS NOT NULL AND length(content) <> size LIMIT 100
        """,
        """
        SELECT 'the value ' || quote(name) || ' has pieces of other than ' || size || ' bytes' FROM value
        WHERE content IS NULL AND size IS NOT
            (SELECT sum(length(content)) FROM piece WHERE piece.version = value.version) LIMIT 100
        """,
        """
        SELECT 'there are pieces of an absent value' FROM piece
        WHERE number = 0 AND version NOT IN (SELECT version FROM value WHERE content IS NULL) LIMIT 1
        """,
    ]
}
