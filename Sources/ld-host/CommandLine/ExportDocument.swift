internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// A JSON document of values, written entry by entry to standard output.
struct ExportDocument {
    /// What entries are named by.
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
    /// - Parameter recorded: As for ``ValueDocument/entry(for:recorded:)``.
    mutating func add(
        _ data: Data, recorded: SerializerFormat?, _ domain: StorageDomain, _ name: String
    ) throws {
        let title = naming == .addresses ? Address.text(domain, name) : name
        // A value of this name is not to pass for a document of addresses.
        let value =
            naming == .names && name == AddressDocument.member
            ? ValueDocument.bytes(data, recorded: recorded) : ValueDocument.entry(for: data, recorded: recorded)
        let line =
            "\(isEmpty ? "" : ",")\n\(naming == .addresses ? "    " : "  ")\(try JSONValue.string(title).serialized()): "
            + (try value.serialized())
        Output.write(PrintableText.escaped(json: Data(line.utf8)))
        isEmpty = false
    }

    func end() {
        let start = isEmpty ? "" : naming == .addresses ? "\n  " : "\n"
        Output.line(naming == .addresses ? "\(start)}\n}" : "\(start)}")
    }
}

/// A JSON document whose entries are named by their addresses, as ``ExportDocument`` writes one of several scopes.
struct AddressDocument {
    /// The one member of such a document.
    static let member = "$addresses"

    private let data: Data

    /// Takes the object of the entries out of a document; `nil` if it is of another kind.
    init?(_ document: Data) {
        // Most documents are of names, and large.
        let start = document.prefix(256).filter { !($0 == 0x20 || (0x09...0x0D).contains($0)) }
        guard start.starts(with: "{\"\(Self.member)\":".utf8),
            let value = try? JSONDecoder().decode(JSONValue.self, from: document), case .object(let members) = value,
            members.count == 1, case .object(let entries)? = members[Self.member], entries["$base64"] == nil,
            let only = JSONMembers(object: document).members.first
        else { return nil }
        data = only.value
    }

    /// The entries.
    ///
    /// - Parameter place: `DOMAIN[:SCOPE][/PREFIX]`: only those in there.
    /// - Throws: As ``ValueDocument``; `invalidAddress` if there are some, and none in `place`.
    func entries(
        from file: String, in place: String?
    ) throws -> [(domain: StorageDomain, name: String, value: ValueDocument.Entry)] {
        let selection = try Address.selection(place)
        let all = try ValueDocument.entries(in: data, from: file, each: nil, name: nil, longest: .max)
        var entries: [(domain: StorageDomain, name: String, value: ValueDocument.Entry)] = []
        for entry in all {
            do throws(StorageError) {
                let descriptor = try StorageKeyDescriptor(address: entry.name)
                guard selection.contains(descriptor.domain, descriptor.name) else { continue }
                entries.append((descriptor.domain, descriptor.name, entry.value))
            } catch {
                throw StorageError(error.code, "\(file): \(error.message); nothing was imported", hint: error.hint)
            }
        }
        guard entries.isEmpty, !all.isEmpty, let place else { return entries }
        throw StorageError(
            .invalidAddress,
            "\(file) has addresses, and none in '\(place)'; nothing was imported",
            hint: "leave '\(place)' out; what is to go elsewhere is exported as one scope, e.g. userDefaults/")
    }
}
