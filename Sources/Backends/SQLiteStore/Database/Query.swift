/// The statements that a connection prepares at their first use, and caches.
enum Query: Int, CaseIterable {
    case begin, beginReading, commit, rollback, dataVersion, pageCount
    case findPlace, folders, makePlace, places
    case version, value, tagged, attributes, names, values, marks
    case insert, insertNew, insertMany, replaceMany, replaceRow
    case remove, removeRow, removeVersion, removeRowVersion, removeRange
    case somePiece, pieces, insertPiece, removePieces

    /// The statement for a database whose rows have a checksum or not.
    func text(hasChecksums: Bool) -> String {
        let (column, parameter, assignment) =
            hasChecksums ? (", checksum", ", ?12", ", checksum = excluded.checksum") : ("", "", "")
        return switch self {
        case .begin: "BEGIN IMMEDIATE"
        case .beginReading: "BEGIN"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .dataVersion: "PRAGMA data_version"
        case .pageCount: "PRAGMA page_count"
        case .findPlace: "SELECT id FROM place WHERE domain = ?1 AND scope = ?2"
        // Scopes that are absolute paths.
        case .folders: "SELECT id, scope FROM place WHERE domain = ?1 AND scope >= '/' AND scope < '0' ORDER BY id"
        case .makePlace: "INSERT INTO place (domain, scope) VALUES (?1, ?2)"
        case .places:
            """
            SELECT id, domain, scope FROM place
            WHERE id > ?1 AND EXISTS (SELECT 1 FROM value WHERE value.place = place.id) ORDER BY id LIMIT ?2
            """
        case .version: "SELECT version FROM value WHERE place = ?1 AND name = ?2"
        case .value:
            "SELECT content, version, size, \(hasChecksums ? "checksum" : "NULL") FROM value WHERE place = ?1 AND name = ?2"
        case .tagged:
            """
            SELECT content, version, size, \(hasChecksums ? "checksum" : "NULL"), version_tag FROM value
            WHERE place = ?1 AND name = ?2
            """
        case .attributes:
            """
            SELECT modified, size, content_type, serializer, version_tag, app_version, owner
            FROM value WHERE place = ?1 AND name = ?2
            """
        case .names: "SELECT name FROM value WHERE place = ?1 AND name > ?2 AND name < ?3 ORDER BY name LIMIT ?4"
        case .values:
            """
            SELECT name, content, version, size, modified, content_type, serializer, version_tag, app_version, owner,
            \(hasChecksums ? "checksum" : "NULL") FROM value WHERE place = ?1 AND name > ?2 AND name < ?3 ORDER BY name
            """
        case .marks:
            """
            SELECT name, version, content IS NULL FROM value
            WHERE place = ?1 AND name >= ?2 AND name <= ?3 ORDER BY name
            """
        case .insert:
            """
            INSERT OR REPLACE INTO value
            (place, name, version, modified, size, content_type, serializer, version_tag, app_version, owner,
            content\(column))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11\(parameter))
            """
        case .insertNew:
            """
            INSERT OR IGNORE INTO value
            (place, name, version, modified, size, content_type, serializer, version_tag, app_version, owner,
            content\(column))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11\(parameter))
            """
        case .insertMany: Self.insertMany("IGNORE", hasChecksums: hasChecksums)
        // Not if a replaced value has pieces.
        case .replaceMany: Self.insertMany("REPLACE", hasChecksums: hasChecksums)
        // For a value that is in its row or does not exist; changes nothing if it has pieces.
        case .replaceRow:
            """
            INSERT INTO value
            (place, name, version, modified, size, content_type, serializer, version_tag, app_version, owner,
            content\(column))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11\(parameter))
            ON CONFLICT (place, name) DO UPDATE SET
            version = excluded.version, modified = excluded.modified, size = excluded.size,
            content_type = excluded.content_type, serializer = excluded.serializer,
            version_tag = excluded.version_tag, app_version = excluded.app_version, owner = excluded.owner,
            content = excluded.content\(assignment)
            WHERE value.content IS NOT NULL
            """
        case .remove: "DELETE FROM value WHERE place = ?1 AND name = ?2"
        case .removeRow: "DELETE FROM value WHERE place = ?1 AND name = ?2 AND content IS NOT NULL"
        case .removeVersion: "DELETE FROM value WHERE place = ?1 AND name = ?2 AND version = ?3"
        case .removeRowVersion:
            "DELETE FROM value WHERE place = ?1 AND name = ?2 AND version = ?3 AND content IS NOT NULL"
        case .removeRange: "DELETE FROM value WHERE place = ?1 AND name >= ?2 AND name <= ?3"
        case .somePiece: "SELECT 1 FROM piece LIMIT 1"
        case .pieces: "SELECT content FROM piece WHERE version = ?1 ORDER BY number"
        case .insertPiece: "INSERT INTO piece (version, number, content) VALUES (?1, ?2, ?3)"
        case .removePieces:
            """
            DELETE FROM piece WHERE version =
            (SELECT version FROM value WHERE place = ?1 AND name = ?2 AND content IS NULL)
            """
        }
    }

    /// The number of values that ``insertMany`` and ``replaceMany`` store, of one namespace and time and with the same
    /// attributes.
    static let rowsAtOnce = 32

    private static func insertMany(_ alternative: String, hasChecksums: Bool) -> String {
        let rows = (0..<rowsAtOnce).map { row in
            let first = 8 + 5 * row
            let checksum = hasChecksums ? ", ?\(first + 4)" : ""
            return "(?1, ?\(first), ?\(first + 1), ?2, ?\(first + 2), ?3, ?4, ?5, ?6, ?7, ?\(first + 3)\(checksum))"
        }
        return """
            INSERT OR \(alternative) INTO value
            (place, name, version, modified, size, content_type, serializer, version_tag, app_version, owner,
            content\(hasChecksums ? ", checksum" : ""))
            VALUES \(rows.joined(separator: ", "))
            """
    }
}
