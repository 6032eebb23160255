internal import FoundationEssentials
internal import JSON
internal import LocalDataAPI
internal import LocalDataHost

/// A JSON document of values, written entry by entry to standard output.
struct ExportDocument {
    /// The way in which entries are named.
    enum Naming {
        /// The values of one scope: the document is the object of the entries.
        case names
        /// Values of several: the document is an object whose one member is the object of the entries.
        case addresses
    }

    private let naming: Naming
    private var isEmpty = true

    init(of naming: Naming) {
        self.naming = naming
        Output.write(Data((naming == .addresses ? "{\n  \"\(AddressDocument.member)\": {" : "{").utf8))
    }

    /// Writes an entry.
    ///
    /// - Parameters:
    ///   - recorded: As for ``ValueDocument/entry(for:recorded:expires:)``.
    ///   - expires: When the value expires, in nanoseconds since 1970, if it does.
    mutating func add(
        _ data: Data, recorded: SerializerFormat?, expires: Int64?, _ domain: StorageDomain, _ name: String
    ) throws {
        let title = naming == .addresses ? Address.text(domain, name) : name
        // A value of this name is not to pass for a document of addresses.
        let value =
            naming == .names && name == AddressDocument.member
            ? ValueDocument.bytes(data, recorded: recorded, expires: expires)
            : ValueDocument.entry(for: data, recorded: recorded, expires: expires)
        let line =
            Array("\(isEmpty ? "" : ",")\n\(naming == .addresses ? "    " : "  ")".utf8) + JSON.string(title).text
            + Array(": ".utf8) + value.text
        Output.write(PrintableText.escaped(json: Data(line)))
        isEmpty = false
    }

    func end() {
        let start = isEmpty ? "" : naming == .addresses ? "\n  " : "\n"
        Output.line(naming == .addresses ? "\(start)}\n}" : "\(start)}")
    }
}
