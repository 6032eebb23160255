internal import ByteCoding
internal import LocalDataAPI

/// Removes the old values of a committed migration, as its last step, and only those that are still unchanged.
struct MigrationCleanup {
    let ledger: Ledger
    private var access: StoreAccess { ledger.access }

    init(_ ledger: Ledger) { self.ledger = ledger }

    /// Whether all values that the migration wrote exist.
    func isPublished(_ row: LedgerRow) async throws(StorageError) -> Bool {
        for change in row.written {
            let resolved = try await access.resolveUnlisted(KeyReference(try change.key))
            guard try await resolved.exists() else { return false }
        }
        return true
    }

    /// Removes the values and records that in the ledger, in one step.
    ///
    /// - Throws: The reason why it cannot be done. Then nothing is removed, and the call can be repeated.
    func run(_ id: String, in page: inout LedgerPage) async throws(StorageError) {
        for _ in 0..<Self.attempts where try await attempt(id, &page) { return await ledger.wipe(id, in: &page) }
        throw StorageError(
            .busy, "the old values of the migration '\(id)' kept changing", hint: "try again")
    }

    private static let attempts = 3

    /// Whether the values to remove are unchanged.
    private func attempt(_ id: String, _ page: inout LedgerPage) async throws(StorageError) -> Bool {
        guard var row = page[id] else { return true }
        var changes: [BatchChange] = []
        var views: [AtomicScope: StoreView] = [:]
        for index in row.removed.indices {
            let resolved = try await access.resolveUnlisted(KeyReference(try row.removed[index].key))
            guard let stored = try await resolved.stored(&views) else { continue }
            guard StableHash.of(stored) == row.removed[index].before else {
                row.removed[index].isLeft = true
                continue
            }
            try await requireSettled(resolved, for: id, in: page)
            if let image = try await ledger.image(of: resolved, stored) {
                changes.append(image.change)
                row.removed[index].image = image.name
            }
            changes.append(try await ledger.change(resolved, to: nil))
        }
        row.state = .clean
        row.expires = row.changes.contains { $0.image != nil } ? ledger.expiry : nil
        var next = page
        next[id] = row
        guard try await ledger.commit(next, with: changes, views: Array(views.values)) else { return false }
        page = next
        return true
    }

    /// If one migration continues another one's data, the later one removes last. Without that data, the earlier one
    /// would count as not run, and would migrate its sources again.
    ///
    /// - Throws: `busy` if another migration wrote the value, and its old values are not removed yet.
    func requireSettled(
        _ resolved: ResolvedKey, for id: String, in page: LedgerPage
    ) async throws(StorageError) {
        let isOwn = "\(resolved.address)" == page.address
        let there = isOwn ? page : try await Ledger(access, of: resolved).page()
        guard
            let row = there.rows.first(where: {
                $0.id != id && ($0.state == .published || $0.state == .copying)
            })
        else { return }
        throw StorageError(
            .busy,
            "'\(resolved.address)' was written by the migration '\(row.id)', whose old values are not removed yet",
            hint: "run that migration again")
    }
}

/// Wipes values that a migration has moved to a better protected location from the files of their former store. The
/// ledger's row lists locations that cannot be wiped yet, for `migrate status` and the next run.
extension Ledger {
    /// Wipes the locations that a migration has moved values from. Values that a rollback needs stay until it expires.
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
            } catch {
                remaining.append(address)
                access.snapshot.logUnwiped(address, by: id, error)
            }
        }
        row.unwiped = remaining.isEmpty ? nil : remaining
        guard row != page[id] else { return }
        var next = page
        next[id] = row
        do throws(StorageError) {
            if try await commit(next) { page = next }
        } catch {
            // The ledger lists more locations than remain, or fewer. The next run corrects it.
            access.snapshot.log(
                .warning, "migration",
                "values that '\(id)' has moved from a less protected location are still in its files, or the "
                    + "ledger does not record that they are gone: \(error.message)")
        }
    }
}

extension BulkLedger {
    /// Wipes the source's location of values that were moved to a better protected one, and records in the row whether
    /// that succeeded.
    func wipe(_ row: inout LedgerRow, _ page: inout LedgerPage) throws {
        guard source.isPlain, !destination.isPlain else { return }
        var isWiped = true
        do throws(StorageError) { try source.open.store.wipe(source.namespace) } catch {
            isWiped = false
            snapshot.logUnwiped("\(source.range)", by: row.id, error)
        }
        let unwiped = isWiped ? nil : ["\(source.range)"]
        guard row.unwiped != unwiped else { return }
        row.unwiped = unwiped
        page[row.id] = row
        _ = try apply([change(page)])
    }
}

extension RouterSnapshot {
    /// Says that values are still in the files of the store that a migration has moved them from.
    func logUnwiped(_ place: String, by id: String, _ error: StorageError) {
        log(
            .warning, "migration",
            "values that '\(id)' has moved from '\(place)' are still in its files; the next run tries again to remove "
                + "them: \(error.message)")
    }
}

extension ResolvedKey {
    /// Whether the value cannot be read from the store's files without a key.
    var isProtected: Bool { !layers.isEmpty || open.isKeychain }
}
