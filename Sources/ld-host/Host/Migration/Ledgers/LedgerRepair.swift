internal import FoundationEssentials
internal import HostGround
internal import HostSealing
internal import HostStores
internal import LocalDataAPI

/// Finds damaged pages of the ledgers, and puts them aside. Nothing is invented: what a damaged page
/// said is not guessed, and is kept.
struct LedgerRepair: Sendable {
    let engine: MigrationEngine
    let survey: LedgerSurvey

    private var access: StoreAccess { engine.access }
    private var snapshot: RouterSnapshot { engine.snapshot }

    /// Looks at every page, and puts the damaged ones aside if that is wanted.
    func report(puttingAside: Bool) async -> LedgerReport {
        var pages: [LedgerReport.Page] = []
        for found in survey.pages {
            switch found.content {
            case .success(let page):
                let looked = await sound(found, page)
                let chunks = await ChunkRepair(engine, of: found).report(page, applying: puttingAside)
                pages.append(
                    entry(
                        found, !chunks.isDamaged ? .sound : puttingAside ? .putAside : .damaged,
                        looked.remarks + chunks.remarks,
                        rows: page.rows.count))
            case .failure(let error) where await isDamaged(found, error):
                pages.append(await damaged(found, error, puttingAside: puttingAside))
            case .failure(let error):
                let hint = error.hint.isEmpty ? [] : ["to do: \(error.hint)"]
                pages.append(entry(found, .unreadable, [error.message] + hint))
            }
        }
        return LedgerReport(pages: pages, failures: survey.failures.map(\.message))
    }

    private func entry(
        _ found: LedgerSurvey.Page, _ state: LedgerReport.State, _ remarks: [String], rows: Int = 0
    ) -> LedgerReport.Page {
        LedgerReport.Page(
            store: found.open.name, destination: found.address, state: state, rows: rows, remarks: remarks)
    }

    /// Compares what a page says with what is there.
    private func sound(_ found: LedgerSurvey.Page, _ page: LedgerPage) async -> LedgerReport.Page {
        var remarks: [String] = []
        for row in page.rows {
            for change in row.changes {
                do throws(StorageError) {
                    let resolved = try await access.key(of: change)
                    if row.state != .rolledBack, row.written.contains(where: { $0.address == change.address }),
                        try await !resolved.exists()
                    {
                        remarks.append("'\(change.address)', which '\(row.id)' wrote, is not stored any more")
                    }
                    guard let name = change.image else { continue }
                    let image = try LedgerPlace.image(name, of: resolved, nil)
                    let what = "the value of '\(change.address)' before '\(row.id)'"
                    if try await !image.exists() {
                        remarks.append("\(what) is not kept any more, so that cannot be rolled back")
                    } else if try await !isSound(image, change) {
                        remarks.append("what is kept of \(what) is damaged, so that cannot be rolled back")
                    }
                } catch {
                    remarks.append("'\(change.address)' cannot be read: \(error.message)")
                }
            }
        }
        return entry(found, .sound, remarks, rows: page.rows.count)
    }

    /// Whether an image has what was there. A sealed one has if it opens.
    private func isSound(_ image: ResolvedKey, _ change: LedgerRow.Change) async throws(StorageError) -> Bool {
        do throws(StorageError) {
            if image.layers.isEmpty { return try await image.mark() == change.before }
            let value = try await image.sealedValue()
            return try await image.open.wait("reading '\(image.address)'") { () throws(StorageError) in
                try value.digest() != nil
            }
        } catch {
            guard [.corrupt, .cannotOpen].contains(error.code) else { throw error }
            return false
        }
    }

    /// Whether the bytes are wrong, and not just not to be read here.
    private func isDamaged(_ found: LedgerSurvey.Page, _ error: StorageError) async -> Bool {
        switch error.code {
        case .corrupt: return true
        case .cannotOpen:
            // A key that is missing or disabled says nothing about the bytes.
            guard let ring = found.open.sealing?.ring, let stored = try? await found.place.stored() else {
                return false
            }
            let header = stored.withUnsafeBytes { bytes in
                Result { () throws(EnvelopeFault) in try EnvelopeHeader(parsing: bytes) }
            }
            switch header {
            case .failure(.version): return false
            case .failure: return true
            case .success(let header):
                let state = try? await onIOThread { () throws(StorageError) in try ring.state() }
                guard let key = state?[header.keyID] else { return false }
                return key.use != .disabled
            }
        default: return false
        }
    }

    private func damaged(
        _ found: LedgerSurvey.Page, _ error: StorageError, puttingAside: Bool
    ) async -> LedgerReport.Page {
        let facts = [error.message] + (await self.facts(of: found))
        guard puttingAside else {
            return entry(
                found, .damaged,
                facts + ["to be done: the page is put aside, as it is, and its migrations count as not run"])
        }
        do {
            let name = try await putAside(found)
            return entry(
                found, .putAside,
                facts + ["the page is kept as '\(name)', and its migrations count as not run"])
        } catch {
            let reason = StorageError(wrapping: error).message
            return entry(found, .damaged, facts + ["the page cannot be put aside: \(reason)"])
        }
    }

    /// The values at the destination and at the sources of the migrations that are known to lead there.
    private func facts(of found: LedgerSurvey.Page) async -> [String] {
        var facts: [String] = []
        for migration in engine.registry.migrations {
            let key = migration.destinationDescriptor
            guard let place = try? snapshot.settings.place(of: key.domain),
                "\(StorageAddress(place, name: key.name))".hasBytes(of: found.address)
            else { continue }
            let sources = await present(migration.sources)
            let destination = await present([migration.destinationKey])
            facts.append(
                "'\(migration.id)': the destination has \(destination.isEmpty ? "no value" : "a value")"
                    + (migration.sources.isEmpty
                        ? ""
                        : sources.isEmpty
                            ? ", and none of its sources has one, as after a run"
                            : ", and there is data at \(sources.joined(separator: ", "))"))
        }
        return facts
    }

    private func present(_ keys: [AnyStorageKey]) async -> [String] {
        var present: [String] = []
        for key in keys {
            guard let resolved = try? await access.resolveUnlisted(KeyReference(key)),
                (try? await resolved.exists()) == true
            else { continue }
            present.append("'\(resolved.address)'")
        }
        return present
    }

    /// Moves the bytes of a page to a name that no page has, in the same store.
    ///
    /// - Returns: The name.
    private func putAside(_ found: LedgerSurvey.Page) async throws -> String {
        try await MigrationTurns.shared.alone(in: found.open, snapshot) {
            guard let stored = try await found.place.stored() else {
                throw StorageError(.notFound, "the page is gone")
            }
            var bytes = stored
            do throws(StorageError) {
                bytes = try await found.place.opened(stored)
                // Somebody may have mended it meanwhile.
                guard (try? LedgerPage(bytes, of: found.address)) == nil else {
                    throw StorageError(.busy, "it can be read now")
                }
            } catch {
                guard error.code == .cannotOpen else { throw error }
            }
            let name = LedgerPlace.asideName()
            let place = try LedgerPlace.page(named: name, in: found.open, snapshot.settings)
            try await access.apply([place.changing(to: bytes), found.place.changing(to: nil)])
            return name
        }
    }
}

extension MigrationEngine {
    /// Looks at every page of the ledgers of all stores, and puts damaged ones aside if that is wanted.
    package func checkLedgers(puttingAside: Bool) async throws -> LedgerReport {
        await LedgerRepair(engine: self, survey: await ledgers()).report(puttingAside: puttingAside)
    }
}
