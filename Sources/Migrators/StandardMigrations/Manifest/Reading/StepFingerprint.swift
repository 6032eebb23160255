internal import JSON

/// Tells what a step does from what it did before, for the ledger: FNV-1a, 64 bits, of the step's JSON without spaces
/// and with the members of every object in order of their bytes, so that neither counts, nor whether the configuration
/// or a file has it. It is for the operator's own mistakes, not against someone who makes two steps alike on purpose.
enum StepFingerprint {
    /// - Parameter names: Members of the step that say nothing of what it does.
    static func of(_ step: JSON, besides names: [String]) -> String {
        guard case .object(var object) = step.content else { return hash(step.text) }
        for name in names { object[name] = nil }
        return hash(JSON.object(object).ordered.text)
    }

    private static func hash(_ bytes: some Sequence<UInt8>) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }
}

extension JSON {
    /// The same value, members by the bytes of their names.
    fileprivate var ordered: JSON {
        switch content {
        case .null, .bool, .number, .string: self
        case .array(let elements): .array(elements.map(\.ordered))
        case .object(let object):
            .object(
                JSONObject(
                    members: object.members.map { JSONObject.Member(name: $0.name, value: $0.value.ordered) }
                        .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }))
        }
    }
}
