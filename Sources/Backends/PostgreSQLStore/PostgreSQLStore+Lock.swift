internal import ByteCoding
internal import LocalDataPluginAPI
internal import ServerAccess

/// Locks are the server's advisory locks, by a number that is computed from schema, namespace and name. Each uses a
/// connection of its own, besides those of the pool: the server gives the lock to others once it has noticed that the
/// connection is lost, within a minute.
extension PostgreSQLStore: LockingBackend {
    func lock(_ name: String, in place: StorageNamespace, waiting wait: Duration) throws -> NameLock? {
        let number = NameLock.number(of: name, in: place, pool.options.schema)
        let work = "locking '\(StorageAddress(place, name: name))'"
        return try pool.converting(work) {
            let link = try pool.open(until: pool.deadline())
            return try NameLock.take(number, on: link, pool, waiting: wait)
        }
    }

    func isHeld(_ lock: NameLock) throws -> Bool { lock.isHeld(until: pool.deadline()) }

    func unlock(_ lock: NameLock) { lock.end(until: pool.deadline()) }
}
