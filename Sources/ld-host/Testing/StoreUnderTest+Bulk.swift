internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension StoreUnderTest {
    /// The values of one bulk read.
    func values(
        in place: StorageNamespace? = nil, prefix: String = "", after: String? = nil, largest: Int = .max
    ) throws -> [BoundaryValue] {
        var values: [BoundaryValue] = []
        try store.forEachValue(in: place ?? self.place, prefix: prefix, after: after, largest: largest) { value in
            values.append(BoundaryValue(value))
            return true
        }
        return values
    }

    /// The mark of a stored value.
    func mark(of name: String) throws -> UInt64 {
        guard let value = try values(prefix: name).first(where: { $0.name == name }) else {
            throw ConformanceFailure("'\(name)' is stored but missing in a bulk read")
        }
        return value.mark
    }

    /// Creates a change for ``apply(_:)``, of a name in the check's namespace.
    func change(
        _ name: String, _ text: String?, in place: StorageNamespace? = nil, mark: UInt64? = nil
    ) -> BoundaryChange {
        BoundaryChange(
            address: StorageAddress(place ?? self.place, name: name), value: text.map { Data($0.utf8) }, mark: mark)
    }

    /// Applies many changes in one call; returns the indices of those whose expectation failed.
    func apply(_ changes: [BoundaryChange]) throws -> [Int] {
        // Values with a handle are removed at the end of the check.
        for change in changes { _ = try handle(change.address) }
        return try store.apply(many: changes).sorted()
    }

    /// Applies many changes in one call; all expectations must hold.
    func applyAll(_ changes: [BoundaryChange]) throws {
        let conflicts = try apply(changes)
        guard !conflicts.isEmpty else { return }
        throw ConformanceFailure("the changes \(conflicts) of \(changes.count) are reported as conflicts")
    }
}

extension BoundaryValue {
    init(_ lent: LoadedStore.LentValue) {
        self.init(
            name: String(decoding: lent.name, as: UTF8.self), value: lent.value.map { Data($0) },
            attributes: lent.makeAttributes(), mark: lent.mark)
    }
}

/// Ends the check with a failure unless two lists of indices are the same.
func expect(_ found: [Int], are expected: [Int], _ what: String) throws {
    try expect(found == expected, "\(what): expected \(expected), found \(found)")
}
