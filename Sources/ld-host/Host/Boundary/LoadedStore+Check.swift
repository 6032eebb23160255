internal import CLocalData
package import LocalDataAPI

extension LoadedStore {
    /// Has the store look for damage in what it keeps, and hands out a line for each thing that is wrong, until `body`
    /// returns `false`. May take long.
    ///
    /// - Throws: `unsupported` if the store cannot look, and whatever it reports.
    package func check(_ body: (String) -> Bool) throws(StorageError) {
        guard let check = abilities.check else { throw lacks("checks") }
        _ = try site("check").pieces {
            body(String(decoding: $0.prefix(64 << 10), as: UTF8.self)) ? .more : .enough
        } _: { sink, error in
            check.check(table.`self`, sink, error)
        }
    }

    /// Has the store repair what keeps it from being changed, and hands out a line for each thing that it did. May take
    /// long.
    ///
    /// - Throws: `unsupported` if the store cannot, and whatever it reports.
    package func repair(_ body: (String) -> Void) throws(StorageError) {
        guard let repair = abilities.repair else { throw lacks("repairs") }
        _ = try site("repair").pieces {
            body(String(decoding: $0.prefix(64 << 10), as: UTF8.self))
            return .more
        } _: { sink, error in
            repair.repair(table.`self`, sink, error)
        }
    }

    /// Has the store compare a value with what was recorded when it was written; `nil` if there is no value. May take
    /// long.
    ///
    /// - Throws: `corrupt` for a value whose bytes are not those that were stored; `unsupported` if the store records
    ///   nothing.
    package func verify(_ handle: StoreHandle) throws(StorageError) -> ValueState? {
        guard let verification = abilities.verification else { throw lacks("verification") }
        var state: UInt32 = 0
        let site = site("verify")
        let status = try site.call(.found) { verification.verify(table.`self`, handle.pointer, &state, $0) }
        guard status == LD_OK else { return nil }
        guard let known = ValueState(rawValue: state) else {
            throw site.violation("it gave the unknown state \(state) of a value", code: .unknown)
        }
        return known
    }

    /// Has the store clear the files of a place of what was removed. May take long.
    ///
    /// - Throws: `unsupported` if the store cannot do that, and whatever it reports.
    package func wipe(_ place: StorageNamespace) throws(StorageError) {
        guard let wiping = abilities.wiping else { throw lacks("wiping") }
        _ = try site("wipe").call { error in place.withBoundary { wiping.wipe(table.`self`, $0, error) } }
    }
}
