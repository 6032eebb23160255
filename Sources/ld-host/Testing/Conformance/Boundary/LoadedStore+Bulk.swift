internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension LoadedStore {
    /// Applies many changes in one call.
    ///
    /// - Returns: The indices that the component reports as conflicts, in its order.
    /// - Throws: What the component reports, except `busy` due to conflicts.
    func apply(many changes: [BoundaryChange]) throws -> [Int] {
        guard let bulk = abilities.bulk else {
            throw StorageError(.unsupported, "the store has no bulk changes")
        }
        let conflicts = Conflicts()
        let observed = withExtendedLifetime(conflicts) {
            LentChanges.lend(changes) { changes, count in
                Observation { _, error in
                    bulk.apply(
                        table.`self`, changes, count, Unmanaged.passUnretained(conflicts).toOpaque(), noteConflict,
                        error)
                }
            }
        }
        if conflicts.indices.isEmpty || observed.reports.first?.code != .busy { try observed.succeeded() }
        try expect(
            conflicts.indices.isEmpty == (observed.status == LD_OK),
            "the store applied changes, reported \(conflicts.indices.count) conflicts and returned "
                + "\(observed.status); expected a failure if there are conflicts")
        return conflicts.indices
    }

    /// Reads many values, and stops after some of them.
    ///
    /// - Returns: How many values the component passed.
    /// - Throws: What the component reports.
    func countValues(in place: StorageNamespace, wanting wanted: Int) throws -> Int {
        guard let bulk = abilities.bulk else {
            throw StorageError(.unsupported, "the store has no bulk reads")
        }
        let counter = ValueCounter(wanted)
        let observed = withExtendedLifetime(counter) {
            Observation { _, error in
                place.domain.withBytes { domain in
                    place.scope.withBytes { scope in
                        var place = ld_namespace(
                            size: UInt32(MemoryLayout<ld_namespace>.size), domain: domain, scope: scope,
                            directory: ld_bytes())
                        return bulk.read(
                            table.`self`, &place, ld_bytes(), ld_bytes(), UInt64(Int.max),
                            Unmanaged.passUnretained(counter).toOpaque(), countValue, error)
                    }
                }
            }
        }
        try observed.succeeded()
        return counter.count
    }
}

private final class ValueCounter {
    let wanted: Int
    var count = 0

    init(_ wanted: Int) { self.wanted = wanted }
}

private func countValue(context: UnsafeMutableRawPointer?, value: UnsafePointer<ld_bulk_value>?) -> Int32 {
    guard let context else { return 1 }
    let counter = Unmanaged<ValueCounter>.fromOpaque(context).takeUnretainedValue()
    counter.count += 1
    return counter.count < counter.wanted ? 0 : 1
}

private final class Conflicts {
    var indices: [Int] = []
}

private func noteConflict(context: UnsafeMutableRawPointer?, index: Int) {
    guard let context else { return }
    Unmanaged<Conflicts>.fromOpaque(context).takeUnretainedValue().indices.append(index)
}

/// One change of a bulk change, as a C caller passes it.
struct BoundaryChange: Sendable {
    let address: StorageAddress
    /// `nil` removes the value.
    let value: Data?
    var attributes: ValueAttributes?
    /// The mark that the value must have, 0 if there must be no value; `nil` for no requirement.
    var mark: UInt64?
}

/// One value of a bulk read, as a store passes it.
struct BoundaryValue {
    let name: String
    /// `nil` if the store omitted it.
    let value: Data?
    let attributes: ValueAttributes?
    let mark: UInt64
}
