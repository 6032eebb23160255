internal import CLocalData

/// The C tables of the abilities; all exported stores share them.
struct AbilityTables: @unchecked Sendable {
    // Pointers to constants that are never freed.
    static let shared = AbilityTables()

    let enumeration = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_enumeration(
                size: UInt32(MemoryLayout<ld_store_enumeration>.size), names: enumerateNames, places: enumeratePlaces)))
    let attributes = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_attributes(size: UInt32(MemoryLayout<ld_store_attributes>.size), attributes: readAttributes)))
    let streaming = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_streaming(
                size: UInt32(MemoryLayout<ld_store_streaming>.size), read: readPieces, write: writePieces)))
    let batch = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_batch(size: UInt32(MemoryLayout<ld_store_batch>.size), apply: applyBatch)))
    let watch = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_watch(
                size: UInt32(MemoryLayout<ld_store_watch>.size), watch: beginWatch, unwatch: endWatch)))
    let transactions = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_transactions(
                size: UInt32(MemoryLayout<ld_store_transactions>.size), begin: beginTransaction,
                get: getInTransaction, set: setInTransaction, remove: removeInTransaction, commit: commitTransaction,
                rollback: rollbackTransaction)))
    let check = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_check(size: UInt32(MemoryLayout<ld_store_check>.size), check: checkStore)))
    let repair = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_repair(size: UInt32(MemoryLayout<ld_store_repair>.size), repair: repairStore)))
    let verification = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_verification(size: UInt32(MemoryLayout<ld_store_verification>.size), verify: verifyValue)))
    let wiping = UnsafeRawPointer(
        UnsafePointer.immortal(ld_store_wiping(size: UInt32(MemoryLayout<ld_store_wiping>.size), wipe: wipeStore)))
    let bulk = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_bulk(size: UInt32(MemoryLayout<ld_store_bulk>.size), read: readMany, apply: applyMany)))
    let conditional = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_conditional(
                size: UInt32(MemoryLayout<ld_store_conditional>.size), get: readRevision, set: setConditionally,
                remove: removeConditionally)))
    let expiry = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_expiry(
                size: UInt32(MemoryLayout<ld_store_expiry>.size), discard: discardExpired, sweep: sweepExpired,
                expired: listExpired)))
    let locks = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_lock(
                size: UInt32(MemoryLayout<ld_store_lock>.size), lock: takeLock, held: isLockHeld, unlock: giveLockBack))
    )
}
