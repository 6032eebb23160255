internal import DurableFiles
internal import JSON
internal import LocalDataAPI

/// What is wrong with a manifest: all that is found in one reading.
struct ManifestFaults: Error {
    /// One mistake.
    struct Fault: Sendable {
        /// The value that is wrong, or the nearest one around what is missing.
        let pointer: JSONPointer
        /// Whether the member's name is wrong, not its value.
        var isName = false
        let message: String
        /// The advice; may be empty.
        let hint: String
    }

    /// A message names at most this many.
    static let mostNamed = 10
    /// What is said where there is no better hint.
    static let reference = "see the guide StandardMigrations.md, which is installed in share/doc/localdata"

    private var faults: [Fault]

    init() { faults = [] }
    init(_ fault: Fault) { faults = [fault] }

    /// Reads a part, and keeps what is wrong with it.
    mutating func collect<Part>(_ part: () throws(ManifestFaults) -> Part) -> Part? {
        do throws(ManifestFaults) { return try part() } catch {
            faults += error.faults
            return nil
        }
    }

    /// Throws what was collected, if anything.
    func check() throws(ManifestFaults) { if !faults.isEmpty { throw self } }

    /// All as one error of the code `invalidOptions`, a line for each.
    func error() -> StorageError { Self.error(faults.map { ($0, "") }) }

    /// The same, each with its line and column in a file, in the order of the file.
    func error(in path: String, _ bytes: [UInt8], _ value: JSON) -> StorageError {
        let located = faults.map { ($0, value.offset(of: $0.pointer, isName: $0.isName)) }.sorted { $0.1 < $1.1 }
        return Self.error(
            located.map { fault, offset in
                let (line, column) = JSONFault.place(of: offset, in: bytes)
                return (fault, "\(path):\(line):\(column): ")
            })
    }

    private static func error(_ faults: [(fault: Fault, place: String)]) -> StorageError {
        if let (fault, place) = faults.first, faults.count == 1 {
            return StorageError(
                .invalidOptions, place + fault.message, hint: fault.hint.isEmpty ? reference : fault.hint)
        }
        var lines = faults.prefix(mostNamed).map { fault, place in
            place + fault.message + (fault.hint.isEmpty ? "" : " (\(fault.hint))")
        }
        if faults.count > mostNamed { lines.append("and \(faults.count - mostNamed) more") }
        return StorageError(.invalidOptions, lines.joined(separator: "\n"), hint: reference)
    }
}
