internal import FoundationEssentials
internal import JSON
internal import LocalDataAPI
internal import LocalDataHost

/// Changes as lines of JSON.
enum BatchDocument {
    struct Change {
        let address: String
        /// `nil` to remove.
        let value: ValueDocument.Entry?
        /// File and line, for errors.
        let place: String

        /// Runs `body` for this change; an error names file and line.
        func located<Result>(_ body: () async throws -> Result) async throws -> Result {
            do { return try await body() } catch let error as UsageError {
                throw StorageError(
                    .invalidConfiguration, "\(place): \(error.message); nothing was done", hint: error.hint)
            } catch let error as StorageError {
                throw StorageError(error.code, "\(place): \(error.message); nothing was done", hint: error.hint)
            }
        }
    }

    /// - Throws: `deserializationFailed`, naming file and line, before anything is done.
    static func changes(in data: Data, from file: String) throws(StorageError) -> [Change] {
        var changes: [Change] = []
        let data = data.starts(with: JSON.byteOrderMark) ? data.dropFirst(JSON.byteOrderMark.count) : data
        for (index, line) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            guard !line.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) else { continue }
            let place = "\(file), line \(index + 1)"
            guard case .object(let object)? = try read(Array(line), place)?.content,
                let change = try change(object, place)
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

    /// The JSON that a line is; `nil` if it is none.
    private static func read(_ line: [UInt8], _ place: String) throws(StorageError) -> JSON? {
        do throws(JSONFault) { return try JSON.read(line, deepest: ValueDocument.deepest) } catch {
            guard let repeated = error.repeated else { return nil }
            throw StorageError(
                .deserializationFailed, "\(place): an object has two members '\(repeated.name)'; nothing was done",
                hint: "leave one of them out")
        }
    }

    private static func change(_ object: JSONObject, _ place: String) throws(StorageError) -> Change? {
        if case .string(let address)? = object["set"]?.content, let value = object["value"], object.members.count == 2 {
            do throws(StorageError) {
                let value = try ValueDocument.read(value)
                guard !value.hasExpired(by: .now) else {
                    throw StorageError(
                        .deserializationFailed, "has an $expires that is in the past",
                        hint: "use a later time, leave it out, or remove the value: {\"remove\": \"\(address)\"}")
                }
                return Change(address: address, value: value, place: place)
            } catch {
                throw StorageError(
                    error.code, "\(place): the value \(error.message); nothing was done", hint: error.hint)
            }
        }
        if case .string(let address)? = object["remove"]?.content, object.members.count == 1 {
            return Change(address: address, value: nil, place: place)
        }
        return nil
    }
}
