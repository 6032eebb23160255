/// The columns of a database's rows. Each version has those of the ones before; see ``Schema``.
enum Layout: Int, CaseIterable {
    case original, checksums, expiry
}

/// The statements that a connection prepares at their first use, and caches.
enum Query: Int, CaseIterable {
    case begin, beginReading, commit, rollback, dataVersion, pageCount
    case findPlace, folders, makePlace, places
    case version, value, described, attributes, names, versions, values, marks
    case insert, insertNew, insertMany, replaceMany, replaceRow
    case mayExpire, due, addDue, removeDue
    case remove, removeRow, removeVersion, removeRowVersion, removeRange
    case somePiece, pieces, insertPiece, removePieces

    /// The statement for a database whose rows have these columns.
    func text(_ layout: Layout) -> String {
        let hasChecksums = layout.rawValue >= Layout.checksums.rawValue
        let hasExpiry = layout.rawValue >= Layout.expiry.rawValue
        let column = (hasChecksums ? ", checksum" : "") + (hasExpiry ? ", expires" : "")
        let parameter = (hasChecksums ? ", ?12" : "") + (hasExpiry ? ", ?13" : "")
        let assignment =
            (hasChecksums ? ", checksum = excluded.checksum" : "") + (hasExpiry ? ", expires = excluded.expires" : "")
        let (checksum, expires) = (hasChecksums ? "checksum" : "NULL", hasExpiry ? "expires" : "NULL")
        /// Leaves out what has expired at the time of a parameter.
        func present(_ number: Int) -> String { hasExpiry ? "AND (expires IS NULL OR expires > ?\(number))" : "" }
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
            WHERE id > ?1 AND EXISTS (SELECT 1 FROM value WHERE value.place = place.id \(present(3))) ORDER BY id LIMIT ?2
            """
        case .version: "SELECT version, \(expires) FROM value WHERE place = ?1 AND name = ?2"
        case .value:
            "SELECT content, version, size, \(checksum), \(expires) FROM value WHERE place = ?1 AND name = ?2"
        case .described:
            """
            SELECT content, version, size, \(checksum), \(expires), version_tag, modified, content_type, serializer,
            app_version, owner FROM value WHERE place = ?1 AND name = ?2
            """
        case .attributes:
            """
            SELECT modified, size, content_type, serializer, version_tag, app_version, owner, \(expires)
            FROM value WHERE place = ?1 AND name = ?2
            """
        case .names:
            """
            SELECT name FROM value WHERE place = ?1 AND name > ?2 AND name < ?3 \(present(5)) ORDER BY name LIMIT ?4
            """
        case .versions:
            """
            SELECT name, version FROM value WHERE place = ?1 AND name > ?2 AND name < ?3 \(present(5)) ORDER BY name
            LIMIT ?4
            """
        case .values:
            """
            SELECT name, content, version, size, modified, content_type, serializer, version_tag, app_version, owner,
            \(checksum), \(expires) FROM value
            WHERE place = ?1 AND name > ?2 AND name < ?3 \(present(4)) ORDER BY name
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
        case .insertMany: Self.insertMany("IGNORE", layout)
        // Not if a replaced value has pieces.
        case .replaceMany: Self.insertMany("REPLACE", layout)
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
        case .mayExpire: "SELECT 1 FROM expiry LIMIT 1"
        case .due:
            """
            SELECT expires, place, name FROM expiry WHERE expires <= ?1 AND (?2 = 0 OR place = ?2)
            ORDER BY expires LIMIT ?3
            """
        case .addDue: "INSERT OR IGNORE INTO expiry (expires, place, name) VALUES (?3, ?1, ?2)"
        case .removeDue: "DELETE FROM expiry WHERE expires = ?3 AND place = ?1 AND name = ?2"
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

    /// The parameter for the expiry of those values.
    static let expiryOfMany = 8 + 5 * rowsAtOnce

    private static func insertMany(_ alternative: String, _ layout: Layout) -> String {
        let hasChecksums = layout.rawValue >= Layout.checksums.rawValue
        let expires = layout.rawValue >= Layout.expiry.rawValue ? ", ?\(expiryOfMany)" : ""
        let rows = (0..<rowsAtOnce).map { row in
            let first = 8 + 5 * row
            let checksum = hasChecksums ? ", ?\(first + 4)" : ""
            let texts = "?3, ?4, ?5, ?6, ?7"
            return "(?1, ?\(first), ?\(first + 1), ?2, ?\(first + 2), \(texts), ?\(first + 3)\(checksum)\(expires))"
        }
        return """
            INSERT OR \(alternative) INTO value
            (place, name, version, modified, size, content_type, serializer, version_tag, app_version, owner,
            content\(hasChecksums ? ", checksum" : "")\(expires.isEmpty ? "" : ", expires"))
            VALUES \(rows.joined(separator: ", "))
            """
    }
}
