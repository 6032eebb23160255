internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension StoreUnderTest {
    func set(_ name: String, to value: Data, attributes: ValueAttributes? = nil) throws {
        try store.set(handle(name), to: value, attributes: attributes)
    }

    func set(_ name: String, to text: String) throws { try set(name, to: Data(text.utf8)) }

    func get(_ name: String) throws -> Data? { try store.get(handle(name)) }

    @discardableResult
    func remove(_ name: String) throws -> Bool { try store.remove(handle(name)) }

    /// Ends the check with a failure unless the name holds exactly this value.
    func expect(_ name: String, holds value: Data?, _ when: String = "") throws {
        try expect(StorageAddress(place, name: name), holds: value, when)
    }

    func expect(_ address: StorageAddress, holds value: Data?, _ when: String = "") throws {
        let found = try store.get(handle(address))
        guard found != value else { return }
        let context = when.isEmpty ? "" : " \(when)"
        guard let found, let value, found.count == value.count,
            let place = zip(found, value).enumerated().first(where: { $0.element.0 != $0.element.1 })?.offset
        else {
            throw ConformanceFailure("'\(address.name)'\(context): expected \(value.shown), found \(found.shown)")
        }
        throw ConformanceFailure(
            "'\(address.name)'\(context): expected \(value.shown); the value found differs from byte \(place) on")
    }

    /// The names in a listing.
    func names(
        in place: StorageNamespace? = nil, prefix: String = "", after: String? = nil, limit: Int? = nil
    ) throws -> [String] {
        var names: [String] = []
        try store.forEachName(in: place ?? self.place, prefix: prefix, after: after, limit: limit) {
            names.append($0)
            return true
        }
        return names
    }
}

/// Whether two lists of names are the same, byte for byte.
func same(_ left: [String], _ right: [String]) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
}

/// Ends the check with a failure unless two lists of names are the same, byte for byte.
func expect(_ found: [String], are expected: [String], _ what: String) throws {
    try expect(same(found, expected), "\(what): expected \(expected), found \(found)")
}
