internal import Foundation
internal import GRDB
internal import Glibc

/// Moves all rows of a table to another one with GRDB's migrator: in one transaction, each value through Swift, since a
/// migration that looks at values has to. Reads lines "fill COUNT SIZE", which recreates the database, and "move
/// COUNT", and answers each with the nanoseconds of one value.
@main
struct GRDBBenchmark {
    static func main() throws {
        let words = CommandLine.arguments
        guard words.count == 2 else { throw Failure(description: "usage: grdb-bench DATABASE") }
        var database: DatabasePool?
        while let line = readLine() {
            let order = line.split(separator: " ")
            guard order.count >= 2, let count = Int(order[1]) else { throw Failure(description: "no order: '\(line)'") }
            switch order[0] {
            case "fill":
                try database?.close()
                for suffix in ["", "-wal", "-shm"] { unlink(words[1] + suffix) }
                let new = try open(words[1])
                try fill(new, count, order.count > 2 ? Int(order[2]) ?? 100 : 100)
                database = new
                print(0)
            case "move":
                guard let database else { throw Failure(description: "nothing was filled in") }
                print(try move(database, count))
            default: throw Failure(description: "no order: '\(line)'")
            }
            fflush(nil)
        }
    }

    private static func open(_ path: String) throws -> DatabasePool {
        var configuration = Configuration()
        // A pool has a write-ahead log; the SQLite store sets this pragma, too.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return try DatabasePool(path: path, configuration: configuration)
    }

    private static func fill(_ database: DatabasePool, _ count: Int, _ size: Int) throws {
        let value = Data(repeating: 7, count: size)
        try database.write { database in
            for table in ["old", "new"] {
                try database.execute(
                    sql: "CREATE TABLE \(table) (name TEXT NOT NULL PRIMARY KEY, content BLOB) WITHOUT ROWID")
            }
            let statement = try database.makeStatement(sql: "INSERT INTO old (name, content) VALUES (?, ?)")
            for index in 0..<count {
                let digits = String(index)
                let name = "key-" + String(repeating: "0", count: 7 - digits.count) + digits
                try statement.execute(arguments: [name, value])
            }
        }
    }

    private static func move(_ database: DatabasePool, _ count: Int) throws -> Double {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("move") { database in
            let insert = try database.makeStatement(sql: "INSERT INTO new (name, content) VALUES (?, ?)")
            let rows = try Row.fetchCursor(database, sql: "SELECT name, content FROM old")
            while let row = try rows.next() {
                let (name, content): (String, Data) = (row[0], row[1])
                try insert.execute(arguments: [name, content])
            }
            try database.execute(sql: "DELETE FROM old")
        }
        let start = now
        try migrator.migrate(database)
        let time = now - start
        let moved = try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM new") }
        guard moved == count else { throw Failure(description: "GRDB has moved \(moved ?? 0) values of \(count)") }
        return time / Double(count)
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}
