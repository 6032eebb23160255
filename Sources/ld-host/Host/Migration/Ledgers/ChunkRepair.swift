internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostStores
internal import LocalDataAPI

/// Looks at the records and images of bulk migrations, and puts damaged records aside, so that a run that was
/// interrupted can be resumed from what the stores hold.
struct ChunkRepair {
    private let engine: MigrationEngine
    private let found: LedgerSurvey.Page

    init(_ engine: MigrationEngine, of found: LedgerSurvey.Page) {
        self.engine = engine
        self.found = found
    }

    /// The findings.
    struct Finding: Sendable {
        /// The problem, and what is or would be done about it.
        var remarks: [String] = []
        /// Whether a record is damaged, or one is gone that is needed to resume.
        var isDamaged = false
    }

    /// - Parameter isApplying: Whether to put what is damaged aside.
    func report(_ page: LedgerPage, applying isApplying: Bool) async -> Finding {
        var finding = Finding()
        for row in page.rows {
            guard let progress = row.bulk, progress.firstRecord < progress.chunks else { continue }
            do {
                guard case .bulk(let migration)? = try await engine.knownMigrations().first(where: { $0.id == row.id })
                else { continue }
                let ledger = try await engine.bulkLedger(of: migration)
                guard ledger.destination.open === found.open else { continue }
                let part = try await MigrationTurns.shared.alone(in: found.open, engine.snapshot) {
                    try await onIOThread { () throws(StorageError) in
                        Result { try ledger.report(progress, applying: isApplying) }
                    }.get()
                }
                finding.remarks += part.remarks
                finding.isDamaged = finding.isDamaged || part.isDamaged
            } catch {
                let reason = StorageError(wrapping: error).message
                finding.remarks.append("the parts of '\(row.id)' cannot be read: \(reason)")
            }
        }
        return finding
    }
}

extension BulkLedger {
    fileprivate func report(_ progress: BulkProgress, applying isApplying: Bool) throws -> ChunkRepair.Finding {
        var finding = ChunkRepair.Finding()
        for number in progress.firstRecord..<progress.chunks {
            let isOpen = progress.isOpen && number == progress.chunks - 1
            do throws(StorageError) {
                if let record = try record(number) {
                    finding.remarks += try imageRemarks(record, number)
                    continue
                }
                finding.remarks.append("the record of part \(number) of '\(migration.id)' is gone")
                guard isOpen else { continue }
            } catch {
                guard error.code == .corrupt || error.code == .cannotOpen else { throw error }
                finding.remarks.append("the record of part \(number) of '\(migration.id)' is damaged: \(error.message)")
            }
            finding.isDamaged = true
            let rest =
                isOpen
                ? "values that are the same at both places count as moved, all others are looked at again by: "
                    + "ld-host migrate run"
                : "the migration cannot be rolled back"
            guard isApplying else {
                finding.remarks.append("to be done: it is put aside, as it is; \(rest)")
                continue
            }
            finding.remarks.append("\(try putAside(number, isOpen: isOpen)); \(rest)")
        }
        return finding
    }

    /// The problems of the images of a chunk.
    private func imageRemarks(_ record: BulkRecord, _ number: Int) throws(StorageError) -> [String] {
        guard grace > 0 else { return [] }
        var (missing, damaged) = (0, 0)
        for (index, item) in record.items.enumerated() {
            for (image, hash) in try imagesToUndo(item, number, index) {
                do throws(StorageError) {
                    guard let stored = try image.readStored() else {
                        missing += 1
                        continue
                    }
                    let found = StableHash.of(try image.opening(stored))
                    if hash ?? found != found { damaged += 1 }
                } catch {
                    guard [.corrupt, .cannotOpen].contains(error.code) else { throw error }
                    damaged += 1
                }
            }
        }
        func remark(_ count: Int, _ fate: String) -> [String] {
            guard count > 0 else { return [] }
            let what = "what \(count) values had before part \(number) of '\(migration.id)'"
            return ["\(what) is \(fate), so that cannot be rolled back"]
        }
        return remark(missing, "not kept any more") + remark(damaged, "kept damaged")
    }

    /// The images that undo the move of a value, with their expected hashes, if those are known.
    private func imagesToUndo(
        _ item: BulkRecord.Item, _ number: Int, _ index: Int
    ) throws(StorageError) -> [(image: ResolvedKey, hash: UInt64?)] {
        let (source, destination) = try images(of: item, number, index)
        var images = destination.map { [(image: $0, hash: item.replaced)] } ?? []
        if let source, item.flags.isDisjoint(with: [.isLeft, .isLarge]) {
            let key = try self.source(of: item)
            // As long as the source is there, it may have no image yet.
            guard try !key.isStored() else { return images }
            images.append((source, key.layers.isEmpty ? item.source : nil))
        }
        return images
    }

    /// Keeps the bytes of a record under a name that no record has. In the place of an open one comes one of the values
    /// that are at both places: their sources are then removed as after any interruption.
    ///
    /// - Returns: What was done.
    private func putAside(_ number: Int, isOpen: Bool) throws -> String {
        let place = try recordPlace(number)
        var changes: [BatchChange] = []
        var text = "it was gone"
        if let stored = try place.readStored() {
            let name = LedgerPlace.asideName()
            let aside = try LedgerPlace.image(name, of: destination.key("*"), nil)
            changes.append(aside.changing(to: (try? place.opening(stored)) ?? stored))
            text = "it is kept as '\(name)'"
        }
        if isOpen {
            changes.append(place.changing(to: try recordOfMoved().encoded()))
            var page = try ledger.page()
            if var row = page[migration.id] {
                row.bulk?.after = nil
                page[row.id] = row
            }
            changes.append(try ledger.change(page))
        } else {
            changes.append(place.changing(to: nil))
        }
        _ = try ledger.apply(changes)
        return text
    }

    /// A record of the values that the destination has as the migration brings them, and the source still has.
    private func recordOfMoved() throws -> BulkRecord {
        var record = BulkRecord()
        var names: [String] = []
        try source.forEachName { name in
            names.append(name)
            return true
        }
        for name in names {
            let source = try self.source.key(name)
            let destination = try self.destination.key(migration.destinationName(of: name))
            // A large one is compared and moved by the next run.
            guard try LargeMove.largeSize(of: source) == nil, let stored = try source.readStored(),
                let there = try destination.readStored()
            else { continue }
            let original = try source.opening(stored)
            let data = migration.changesValues ? try migration.convert(original, named: name) : original
            guard try destination.opening(there) == data else { continue }
            let given = try source.readAttributes()
            record.items.append(
                BulkRecord.Item(
                    suffix: suffix(of: name),
                    flags: migration.changesValues && data != original ? .isChanged : [],
                    attributes: record.number(of: given), source: StableHash.of(stored),
                    destination: StableHash.of(data)))
        }
        return record
    }
}
