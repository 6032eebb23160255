internal import HostGround
internal import HostMigration
internal import HostStores
internal import LocalDataAPI

/// Unfinished migrations, and unreadable ledgers.
extension Diagnosis {
    static func migrations(
        of engine: MigrationEngine, besides silent: Set<String>
    ) async -> [Finding] {
        let survey = await engine.ledgers(besides: silent)
        // Other findings report a store that cannot be opened.
        var findings: [Finding] = survey.pages.compactMap { found in
            guard case .failure(let error) = found.content else { return nil }
            return Finding(
                .migration, "migrations to '\(found.address)' are not run: \(error.message)",
                hint: "see: ld-host migrate ledger repair", isProblem: true)
        }
        for (place, page) in survey.readable {
            for row in page.rows {
                switch row.state {
                case .published where row.bulk?.isUndone == true:
                    findings.append(
                        Finding(
                            .migration,
                            "the rollback of the migration '\(row.id)' to '\(place.address)' was interrupted",
                            hint: "run: ld-host migrate resume", isProblem: true))
                case .published where row.isOnlyOnDemand: break
                case .published where row.bulk != nil:
                    findings.append(
                        Finding(
                            .migration, "the migration '\(row.id)' to '\(place.address)' was interrupted",
                            hint: "run: ld-host migrate resume", isProblem: true))
                case .published:
                    let remainder =
                        row.removed.isEmpty ? "it has not been read back yet" : "the sources are still there"
                    findings.append(
                        Finding(
                            .migration,
                            "the migration '\(row.id)' has brought its data to '\(place.address)', and \(remainder)",
                            hint: "run: ld-host migrate resume", isProblem: true))
                case .copying:
                    findings.append(
                        Finding(
                            .migration,
                            "the migration '\(row.id)' was interrupted while it copied a large value to "
                                + "'\(place.address)'",
                            hint: "run: ld-host migrate resume", isProblem: true))
                case .unverified:
                    findings.append(
                        Finding(
                            .migration,
                            "the values that the migration '\(row.id)' wrote to '\(place.address)' did not read "
                                + "back; the sources are unchanged",
                            hint: "check the store '\(place.open.name)', then run the migration again", isProblem: true)
                    )
                case .clean, .rolledBack, .superseded: break
                }
            }
        }
        return findings + (await changedPlaces(of: engine)) + (await quarantine(engine.access, besides: silent))
    }

    /// Values that no version of an app reads.
    private static func quarantine(_ access: StoreAccess, besides silent: Set<String>) async -> [Finding] {
        var findings: [Finding] = []
        for slot in access.snapshot.stores where !silent.contains(slot.settings.name) {
            // Other findings report a store that cannot be opened or read.
            guard let open = try? await onIOThread({ () throws(StorageError) in try slot.openIfNeeded() }),
                let items = try? await Quarantine(access: access).items(in: open)
            else { continue }
            if let first = items.found.first {
                let others = items.found.count - 1
                findings.append(
                    Finding(
                        .quarantine,
                        "the value of '\(first.record.key.address)'"
                            + (others == 0 ? " is" : " and \(others.counted("other")) are")
                            + " in quarantine: the app could not read it",
                        hint: "run: ld-host quarantine list", isProblem: true))
            }
            findings += items.failures.map {
                Finding(
                    .quarantine, "the quarantine of '\(open.name)' is unreadable: \($0.message)", hint: $0.hint,
                    isProblem: true)
            }
        }
        return findings
    }

    /// Values of catalog keys that are still where the keys were before their locations changed.
    private static func changedPlaces(of engine: MigrationEngine) async -> [Finding] {
        // Other findings report why they cannot be searched for.
        guard let (migrations, conflicts) = try? await engine.formerPlaceMigrations() else { return [] }
        var findings: [Finding] = []
        for migration in migrations {
            let key = migration.destinationDescriptor
            guard let resolved = try? await engine.access.resolve(KeyReference(migration.destinationKey)),
                (try? await resolved.exists()) == false, let source = migration.sources.first
            else { continue }
            let former = "\(source.place ?? resolved.address.place)/\(source.descriptor.name)"
            findings.append(
                Finding(
                    .migration,
                    "'\(key.domain)/\(key.name)' has no value; it is still where it was before the key's location "
                        + "changed: \(former)",
                    hint: "run: ld-host migrate run", isProblem: true))
        }
        return findings
            + conflicts.map {
                Finding(.migration, $0.error.message, hint: "see: ld-host migrate plan", isProblem: true)
            }
    }
}
