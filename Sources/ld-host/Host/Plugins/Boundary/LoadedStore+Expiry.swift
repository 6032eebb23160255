internal import CLocalData
package import LocalDataAPI

/// Values that expire. The store decides which have, and the host sees to it that they do not come back.
extension LoadedStore {
    /// Makes a read. A value that has expired counts as absent, and is removed before this returns: once a reader has
    /// found it absent, no clock that is set back brings it to light again.
    @inline(__always)
    func discardingExpired<Result>(
        _ handle: StoreHandle, absent: Result, _ read: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        do throws(StorageError) { return try read() } catch {
            guard error.code == StorageError.expired.code else { throw error }
            try discard(handle)
            return absent
        }
    }

    private func discard(_ handle: StoreHandle) throws(StorageError) {
        guard !isInline else { throw StorageError(.busy, "an expired value is to be removed first") }
        guard let expiry = abilities.expiry else {
            throw site("read").violation(
                "it returned status \(LD_EXPIRED) without the ability \(LD_STORE_EXPIRY)", code: .unknown)
        }
        do throws(StorageError) {
            _ = try passing { () throws(StorageError) in
                try site("discard").call { expiry.discard(table.`self`, handle.pointer, $0) }
            }
        } catch {
            // It is absent all the same; a store that cannot be changed now is swept later.
        }
    }

    /// Removes expired values: of a namespace, or all in namespaces without a folder. Does nothing in a store without
    /// expiry.
    ///
    /// - Returns: The number of removed values, at most `limit`.
    package func sweep(_ place: StorageNamespace?, limit: Int) throws(StorageError) -> Int {
        guard let expiry = abilities.expiry else { return 0 }
        var removed: UInt64 = 0
        _ = try passing { () throws(StorageError) in
            try site("sweep").call { error in
                guard let place else {
                    return expiry.sweep(table.`self`, nil, UInt64(limit), &removed, error)
                }
                return place.withBoundary { expiry.sweep(table.`self`, $0, UInt64(limit), &removed, error) }
            }
        }
        guard removed <= UInt64(limit) else {
            throw site("sweep").violation("it removed \(removed) values; the limit was \(limit)", code: .unknown)
        }
        return Int(removed)
    }

    /// Removes expired values before a namespace, or all are listed, as far as the store can be changed.
    func sweepBeforeListing(_ place: StorageNamespace?) {
        guard abilities.expiry != nil, !isInline else { return }
        _ = try? sweep(place, limit: 4096)
    }

    /// Passes the names of a namespace's values that have expired and are still kept, in any order.
    ///
    /// - Throws: `unsupported` if the store's values cannot expire, and whatever it reports; `corrupt` for a name that
    ///   is invalid.
    package func forEachExpired(
        in place: StorageNamespace, _ body: (String) -> Bool
    ) throws(StorageError) {
        guard let expiry = abilities.expiry else { throw lacks("expiry") }
        _ = try site("expired").pieces { bytes in
            guard let name = String(validating: bytes, as: UTF8.self) else {
                return .broken("it listed a name that is not UTF-8")
            }
            do throws(StorageError) { try StorageAddress(place, name: name).validate() } catch {
                return .broken("it listed an invalid name: \(error.message)")
            }
            return body(name) ? .more : .enough
        } _: { sink, error in
            place.withBoundary { expiry.expired(table.`self`, $0, sink, error) }
        }
    }

    /// - Throws: `unsupported` for a value that is to expire, if the store's values cannot.
    @inline(__always)
    func checkExpiry(_ attributes: ValueAttributes?) throws(StorageError) {
        guard attributes?.expires != nil, abilities.expiry == nil else { return }
        throw lacks("expiry, so a value with a lifetime would stay for ever")
    }
}
