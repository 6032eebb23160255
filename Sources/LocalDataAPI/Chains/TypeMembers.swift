#if os(Linux)
    @_spi(Reflection) import Swift
#endif

/// The stored properties of a type, to find types whose values look the same. Coding keys that differ from the names of
/// properties are unknown, so it is only good for a warning.
struct TypeMembers: Equatable, Sendable {
    /// The name and the kind of each, in no order.
    private let members: Set<String>

    /// `nil` for a type without properties, and where they cannot be listed.
    init?(of type: Any.Type) {
        var members: Set<String> = []
        Self.add(type, at: "", to: &members, depth: 0)
        guard members.first?.first == "." else { return nil }
        self.members = members
    }

    private static func add(_ type: Any.Type, at path: String, to members: inout Set<String>, depth: Int) {
        var properties: [(name: String, type: Any.Type)] = []
        let name = String(reflecting: type)
        let isOwn = !name.hasPrefix("Swift.") && !name.hasPrefix("Foundation") && depth < 8
        #if os(Linux)
            if isOwn {
                _ = _forEachField(of: type, options: []) { name, _, type, _ in
                    properties.append((String(cString: name), type))
                    return true
                }
            }
        #endif
        guard !properties.isEmpty else {
            members.insert("\(path):\(isNumber(type) ? "number" : name)")
            return
        }
        for property in properties {
            add(property.type, at: "\(path).\(property.name)", to: &members, depth: depth + 1)
        }
    }

    /// A whole number is also read as one with a fraction.
    private static func isNumber(_ type: Any.Type) -> Bool {
        type is any BinaryInteger.Type || type is any BinaryFloatingPoint.Type
    }
}

extension ChainGraph {
    /// A sentence for each two types with the same members.
    var twins: [String] {
        var sentences: [String] = []
        for (index, version) in versions.enumerated() {
            for other in versions.indices.dropFirst(index + 1) where version.members != nil {
                guard versions[other].members == version.members else { continue }
                sentences.append(
                    "\(name(other)) and \(name(index)) have the same members, so bytes without a version cannot be told "
                        + "apart; if there are some, say which of the two they are with assumeUntagged(_:)")
            }
        }
        return sentences
    }
}
