internal import CLocalData
package import LocalDataAPI

extension LoadedStore {
    /// Lets the store check its data for damage, and passes one line per problem to `body` until it returns `false`.
    /// May take long.
    ///
    /// - Throws: `unsupported` if the store has no checks, and whatever it reports.
    package func check(_ body: (String) -> Bool) throws(StorageError) {
        guard let check = abilities.check else { throw lacks("checks") }
        _ = try site("check").pieces {
            body(String(decoding: $0.prefix(64 << 10), as: UTF8.self)) ? .more : .enough
        } _: { sink, error in
            check.check(table.`self`, sink, error)
        }
    }

    /// Lets the store repair damage that blocks changes, and passes one line per step. May take long.
    ///
    /// - Throws: `unsupported` if the store has no repair, and whatever it reports.
    package func repair(_ body: (String) -> Void) throws(StorageError) {
        guard let repair = abilities.repair else { throw lacks("repairs") }
        _ = try site("repair").pieces {
            body(String(decoding: $0.prefix(64 << 10), as: UTF8.self))
            return .more
        } _: { sink, error in
            repair.repair(table.`self`, sink, error)
        }
    }

    /// Lets the store compare a value with the record of its last write; `nil` if there is no value. May take long.
    ///
    /// - Throws: `corrupt` for a value whose bytes are not those that were stored; `unsupported` if the store keeps no
    ///   records.
    package func verify(_ handle: StoreHandle) throws(StorageError) -> ValueState? {
        guard let verification = abilities.verification else { throw lacks("verification") }
        var state: UInt32 = 0
        let site = site("verify")
        let status = try site.call(.found) { verification.verify(table.`self`, handle.pointer, &state, $0) }
        guard status == LD_OK else { return nil }
        guard let known = ValueState(rawValue: state) else {
            throw site.violation("it returned the unknown state \(state) for a value", code: .unknown)
        }
        return known
    }

    /// Lets the store erase removed values from the files of a namespace. May take long.
    ///
    /// - Throws: `unsupported` if the store cannot do that, and whatever it reports.
    package func wipe(_ place: StorageNamespace) throws(StorageError) {
        guard let wiping = abilities.wiping else { throw lacks("wiping") }
        _ = try site("wipe").call { error in place.withBoundary { wiping.wipe(table.`self`, $0, error) } }
    }
}
