internal import FoundationEssentials
internal import JSON
internal import LocalDataAPI
internal import LocalDataHost

/// Reads the entries of a JSON document one by one, with memory for one of them and some bytes for each name.
struct DocumentEntryReader {
    /// The kind of a document's entries.
    enum Shape {
        /// The members of the object that it is.
        case names
        /// The members of the object that is its one member, `$addresses`: see ``ExportDocument``.
        case addresses
        /// The elements of the array at a path, each named by a member of its own.
        case elements(path: String, field: String)
    }

    /// The most bytes that a name may have, with what stands in front of it.
    private let longest: Int
    private let prefix: String
    private let shape: Shape
    private var json: JSONReader
    /// The names that were read; a hash of each, so that many take little memory.
    private var names: Set<Int> = []
    private var isChecking = true
    /// How many entries were read.
    private(set) var count = 0
    private var hasher = Hasher()
    private var isBegun = false
    private var isOver = false
    private var file: String { json.document.name }

    /// - Parameter prefix: The text before the names.
    /// - Throws: `fileError`.
    init(_ document: InputDocument, _ shape: Shape, prefix: String = "") throws(StorageError) {
        json = try JSONReader(document)
        self.shape = shape
        self.prefix = prefix
        longest = if case .addresses = shape { .max } else { StorageAddress.longestName }
    }

    /// What all entries so far are known by again: two readers of one process have the same if the texts of the entries
    /// are the same.
    var mark: Int { hasher.finalize() }

    /// The next entry, with `prefix` in front of its name; `nil` if the document ends after the last.
    ///
    /// - Throws: `invalidAddress` or `deserializationFailed`, naming the file and the entry; `fileError`.
    mutating func next() throws(StorageError) -> (name: String, value: ValueDocument.Entry)? {
        guard !isOver, let entry = try nextEntry() else { return nil }
        count += 1
        let name = prefix + entry.name
        guard !entry.name.isEmpty, name.utf8.count <= longest, !name.utf8.contains(0) else {
            throw StorageError(
                .invalidAddress,
                "\(file): the name '\(name.prefix(80))' is empty, too long or has a NUL; nothing was imported",
                hint: "names have 1 to \(StorageAddress.longestName) bytes")
        }
        if isChecking, !names.insert(ExactText(name).hashValue).inserted, try isRepeated(name) {
            let hint =
                if case .elements = shape { "name entries by a member that differs in each" } else {
                    "leave one of them out"
                }
            throw StorageError(
                .invalidAddress, "\(file): two entries are named '\(entry.name)'; nothing was imported", hint: hint)
        }
        do { return (name, try ValueDocument.read(entry.value)) } catch {
            throw StorageError(
                error.code, "\(file): the entry '\(entry.name)' \(error.message); nothing was imported",
                hint: error.hint)
        }
    }

    /// Whether a name is there twice, and not another one with the same hash.
    private func isRepeated(_ name: String) throws(StorageError) -> Bool {
        var other = try DocumentEntryReader(json.document, shape, prefix: prefix)
        other.isChecking = false
        var count = 0
        while count < 2, let entry = try other.next() { count += entry.name.hasBytes(of: name) ? 1 : 0 }
        return count == 2
    }

    private mutating func nextEntry() throws(StorageError) -> (name: String, value: JSON)? {
        if !isBegun {
            try begin()
            isBegun = true
        }
        guard try json.hasNext() else {
            try finish()
            isOver = true
            return nil
        }
        if case .elements(let path, let field) = shape { return try element(of: path, named: field) }
        let (nameText, text) = (try json.name(), try json.value())
        note(nameText)
        note(text)
        guard case .string(let name) = try decoded(nameText).content else { throw json.malformed }
        return (name, try decoded(text))
    }

    private mutating func element(
        of path: String, named field: String
    ) throws(StorageError) -> (name: String, value: JSON) {
        let text = try json.value()
        note(text)
        let element = try decoded(text)
        guard case .object(let members) = element.content, let name = members[field]?.nameText else {
            throw StorageError(
                .deserializationFailed,
                "\(file): element \(count) of '\(path)' has no text or whole number in a member '\(field)'; "
                    + "nothing was imported")
        }
        return (name, element)
    }

    /// Goes to the first entry.
    private mutating func begin() throws(StorageError) {
        switch shape {
        case .elements(let path, _): try descend(to: path)
        case .addresses: guard try AddressDocument.enter(&json) else { throw json.malformed }
        case .names:
            if try json.enter(object: true) { return }
            let value = try json.peek() == UInt8(ascii: "[") ? JSON.array([]) : try decoded(try json.value())
            throw StorageError(
                .deserializationFailed, "\(file) holds \(value.kind); expected an object",
                hint: "for an array use --each PATH --name FIELD")
        }
    }

    /// Goes into the array at a path.
    private mutating func descend(to path: String) throws(StorageError) {
        let segments = path.isEmpty || path == "." ? [] : try ConfigurationPath(path).segments
        for segment in segments { guard try find(segment) else { throw missing(path) } }
        if try json.enter(object: false) { return }
        // What is no JSON at all has no array either, but that is not what to say of it.
        _ = try decoded(try json.value())
        throw missing(path)
    }

    /// Goes to a member, or an element, of what comes next.
    private mutating func find(_ segment: String) throws(StorageError) -> Bool {
        if try json.enter(object: true) {
            while try json.hasNext() {
                if case .string(let name) = try decoded(try json.name()).content, name == segment { return true }
                _ = try decoded(try json.value())
            }
        } else if try json.enter(object: false), let wanted = ConfigurationPath.index(segment) {
            var index = 0
            while try json.hasNext() {
                if index == wanted { return true }
                _ = try decoded(try json.value())
                index += 1
            }
        }
        return false
    }

    private func missing(_ path: String) -> StorageError {
        StorageError(
            .deserializationFailed, "\(file) has no array at '\(path)'",
            hint: "PATH names members from the top, separated by dots; . is the document itself")
    }

    /// Reads what stands behind the entries.
    private mutating func finish() throws(StorageError) {
        while let isObject = json.isInObject {
            while try json.hasNext() {
                if isObject { _ = try decoded(try json.name()) }
                _ = try decoded(try json.value())
            }
        }
        try json.end()
    }

    private mutating func note(_ text: Data) {
        hasher.combine(text.count)
        text.withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    private func decoded(_ text: Data) throws(StorageError) -> JSON {
        if let string = JSONText.plain(text) { return .string(string) }
        guard String(validating: text, as: UTF8.self) != nil else {
            throw StorageError(
                .deserializationFailed, "\(file) is not UTF-8, and JSON must be",
                hint: "write bytes that are not text as {\"$base64\": \"...\"}")
        }
        return try json.decoded(text)
    }
}

/// A JSON document whose entries are named by their addresses, as ``ExportDocument`` writes one of several scopes.
enum AddressDocument {
    /// The one member of such a document.
    static let member = "$addresses"

    /// Whether a document is of this kind. A value that is exported under that name is written as `$base64`.
    static func isOne(_ document: InputDocument) throws(StorageError) -> Bool {
        var json = try JSONReader(document)
        do throws(StorageError) {
            guard try enter(&json) else { return false }
            while try json.hasNext() {
                guard try json.name() != Data("\"$base64\"".utf8) else { return false }
                _ = try json.value()
            }
            return try !json.hasNext()
        } catch {
            guard error.code == .deserializationFailed else { throw error }
            // Who reads the entries finds what is wrong.
            return false
        }
    }

    /// Goes to the entries.
    static func enter(_ json: inout JSONReader) throws(StorageError) -> Bool {
        guard try json.enter(object: true), try json.hasNext(), try json.name() == Data("\"\(member)\"".utf8) else {
            return false
        }
        return try json.enter(object: true)
    }
}

extension JSON {
    fileprivate var nameText: String? {
        switch content {
        case .string(let text): text
        case .number(let text): Int64(text).map { String($0) }
        default: nil
        }
    }
}
