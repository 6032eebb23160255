internal import LocalDataAPI

/// Clears the files of a store of what a migration has moved from there to a better protected place. What cannot be
/// cleared yet stands in the ledger's row, for `migrate status` and the next run.
extension Ledger {
    /// Clears the places that a migration has moved values from. What is kept to undo it stays until it is given up.
    func wipe(_ id: String, in page: inout LedgerPage) async {
        guard var row = page[id], row.state == .clean, row.bulk == nil else { return }
        var (remaining, places) = ([String](), [(resolved: ResolvedKey, address: String)]())
        do throws(StorageError) {
            for change in row.written {
                guard try await access.resolveUnlisted(KeyReference(try change.key)).isProtected else { return }
            }
            for change in row.removed where change.isLeft != true {
                let resolved = try await access.resolveUnlisted(KeyReference(try change.key))
                guard !resolved.isProtected else { continue }
                if change.image == nil {
                    places.append((resolved, change.address))
                } else {
                    remaining.append(change.address)
                }
            }
        } catch { return }
        for (resolved, address) in places {
            do throws(StorageError) {
                try await onIOThread { () throws(StorageError) in try resolved.store.wipe(resolved.address.place) }
            } catch { remaining.append(address) }
        }
        row.unwiped = remaining.isEmpty ? nil : remaining
        guard row != page[id] else { return }
        var next = page
        next[id] = row
        do throws(StorageError) {
            if try await commit(next) { page = next }
        } catch {
            // The ledger says more than there is to do, or less: the next run finds that out.
            access.snapshot.log(
                .warning, "migration",
                "values that '\(id)' has moved from a less protected location are still in its files, or the ledger does not "
                    + "record that they are gone: \(error.message)")
        }
    }
}

extension BulkLedger {
    /// Clears the source's place of values that have come to a better protected one, and says in the row whether it
    /// could.
    func wipe(_ row: inout LedgerRow, _ page: inout LedgerPage) throws {
        guard source.isPlain, !destination.isPlain else { return }
        var isWiped = true
        do throws(StorageError) { try source.open.store.wipe(source.namespace) } catch { isWiped = false }
        let unwiped = isWiped ? nil : ["\(source.range)"]
        guard row.unwiped != unwiped else { return }
        row.unwiped = unwiped
        page[row.id] = row
        _ = try apply([change(page)])
    }
}

extension ResolvedKey {
    /// Whether nobody reads the value from the store's files without a key.
    var isProtected: Bool { !layers.isEmpty || open.isKeychain }
}
