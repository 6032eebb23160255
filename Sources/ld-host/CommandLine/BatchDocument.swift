internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// Changes as lines of JSON.
enum BatchDocument {
    struct Change {
        let address: String
        /// `nil` to remove.
        let value: ValueDocument.Entry?
    }

    /// - Throws: `deserializationFailed`, naming file and line, before anything is done.
    static func changes(in data: Data, from file: String) throws(StorageError) -> [Change] {
        var changes: [Change] = []
        for (index, line) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            guard !line.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) else { continue }
            let place = "\(file), line \(index + 1)"
            guard String(validating: line, as: UTF8.self) != nil,
                // In an array: the decoder reads past the end of a bare number.
                let decoded = try? JSONDecoder().decode([JSONValue].self, from: Data("[".utf8) + line + Data("]".utf8)),
                decoded.count == 1, case .object(let members) = decoded[0],
                members.count == memberCount(of: Data(line), place),
                let change = try change(members, place)
            else {
                throw StorageError(
                    .deserializationFailed,
                    "\(place): expected {\"set\": \"ADDRESS\", \"value\": ...} or {\"remove\": \"ADDRESS\"}; nothing was done",
                    hint: "write bytes that are not JSON as {\"$text\": \"...\"} or {\"$base64\": \"...\"}")
            }
            changes.append(change)
        }
        return changes
    }

    /// How many members the object has that a line is, with every repeated name.
    private static func memberCount(of line: Data, _ place: String) -> Int? {
        guard var json = try? JSONReader(InputDocument(line, named: place)), (try? json.enter(object: true)) == true
        else {
            return nil
        }
        var count = 0
        while (try? json.hasNext()) == true, (try? json.name()) != nil, (try? json.value()) != nil { count += 1 }
        return count
    }

    private static func change(_ members: [String: JSONValue], _ place: String) throws(StorageError) -> Change? {
        if case .string(let address)? = members["set"], let value = members["value"], members.count == 2 {
            do throws(StorageError) { return Change(address: address, value: try ValueDocument.read(value)) } catch {
                throw StorageError(
                    error.code, "\(place): the value \(error.message); nothing was done", hint: error.hint)
            }
        }
        if case .string(let address)? = members["remove"], members.count == 1 {
            return Change(address: address, value: nil)
        }
        return nil
    }
}
