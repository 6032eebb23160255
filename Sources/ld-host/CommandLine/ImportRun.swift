internal import FoundationEssentials
internal import HostClients
internal import LocalDataAPI
internal import LocalDataHost

/// Stores the entries of a document, with memory for some of them. The document is read twice: first all of it is
/// checked, then it is stored, a part at a time.
struct ImportRun {
    /// Entries that are stored together, all or none.
    private struct Part {
        var values: [ValueDocument.StoredEntry] = []
        var bytes = 0
        /// The number of entries among these that had expired.
        var expired = 0
        /// ``DocumentEntryReader/mark`` behind the last of them.
        var mark = 0

        var isFull: Bool { values.count >= ImportRun.mostValues || bytes >= ImportRun.mostBytes }
    }

    /// The imported values.
    struct Report {
        var count = 0
        /// The number of values that had expired, and were left out.
        var expired = 0
        var domains: Set<StorageDomain> = []
    }

    /// The most values of a part, and the bytes of all but its last.
    static let mostValues = 4096
    static let mostBytes = 4 << 20

    let router: StorageRouter
    let document: InputDocument
    let shape: DocumentEntryReader.Shape
    /// `DOMAIN[:SCOPE][/PREFIX]`, as it was given.
    let place: String?
    private let target: (domain: StorageDomain, prefix: String)?
    private let selection: StorageSelection
    private let folders: NamedFolders
    /// What has expired by then is left out, in both readings.
    private let start = Date.now

    /// - Parameter folders: The folders outside of the host's own that values may be stored in.
    init(
        _ document: InputDocument, _ shape: DocumentEntryReader.Shape, into place: String?, _ folders: NamedFolders,
        _ router: StorageRouter
    ) throws {
        self.router = router
        self.folders = folders
        self.document = document
        self.shape = shape
        self.place = place
        target = try place.map { try Address.domain($0) }
        selection = try Address.selection(place)
    }

    /// - Throws: What is wrong with the document or with a key: then nothing has changed. What a store reports, or
    ///   `busy` if the document was changed meanwhile: then what was stored before stays, which is said.
    func run() async throws -> Report {
        Interruption.begin()
        let (marks, only, report) = try await check()
        let progress = ProgressLine("importing", total: report.count)
        defer { progress.finish() }
        if let only {
            try await store(only, progress)
            return report
        }
        var reader = try self.reader()
        var done = 0
        do {
            for mark in marks {
                try Interruption.check(done > 0 ? "not all is imported" : "nothing was imported")
                let part = try await partAgain(&reader)
                guard let part, part.mark == mark else { throw changed }
                try await store(part, progress)
                done += part.values.count
            }
            guard try await partAgain(&reader) == nil else { throw changed }
        } catch {
            guard done > 0 else { throw error }
            progress.finish()
            Output.remark(
                "ld-host: \(done) of \(report.count) values are stored; to store the others too, run the import again")
            throw error
        }
        return report
    }

    /// Reads the whole document, and asks of each key whether it can be used.
    ///
    /// - Returns: What the document's parts are known by again; the part, if it is the only one.
    private func check() async throws -> (marks: [Int], only: Part?, Report) {
        var reader = try self.reader()
        var (marks, only, report): ([Int], Part?, Report) = ([], nil, Report())
        var unnamed = UnnamedFolders()
        while let part = try await part(&reader) {
            try Interruption.check("nothing was imported")
            report.expired += part.expired
            for entry in part.values {
                try await router.checkUsable(entry.key)
                if let folder = try await router.unnamedFolder(of: entry.key, besides: folders) {
                    unnamed.add(folder, entry.key.address)
                }
                report.domains.insert(entry.key.descriptor.domain)
            }
            marks.append(part.mark)
            only = marks.count == 1 ? part : nil
            report.count += part.values.count
        }
        guard unnamed.isEmpty else {
            throw StorageError.unnamedFolders(unnamed, of: document.name, "nothing was imported")
        }
        if report.count == 0, report.expired == 0, reader.count > 0, case .addresses = shape, let place {
            throw StorageError(
                .invalidAddress,
                "\(document.name) has addresses, and none in '\(place)'; nothing was imported",
                hint: "leave '\(place)' out; what is to go elsewhere is exported as one scope, e.g. userDefaults/")
        }
        return (marks, only, report)
    }

    private func store(_ part: Part, _ progress: ProgressLine) async throws {
        var batch = StorageBatch()
        for entry in part.values { batch.setData(entry.data, for: entry.key, expires: entry.expires) }
        try await router.apply(batch) { progress.advance() }
    }

    private func reader() throws -> DocumentEntryReader {
        // The prefix is part of what is selected of a document of addresses.
        if case .addresses = shape { return try DocumentEntryReader(document, shape) }
        return try DocumentEntryReader(document, shape, prefix: target?.prefix ?? "")
    }

    /// The next entries; `nil` if there are no more.
    private func part(_ reader: inout DocumentEntryReader) async throws -> Part? {
        var part = Part()
        while !part.isFull, let entry = try reader.next() {
            guard let (domain, name) = try address(entry.name) else { continue }
            if entry.value.hasExpired(by: start) {
                part.expired += 1
                continue
            }
            let key = try await router.key(named: name, in: domain)
            let stored = try entry.value.stored(for: key)
            guard key.descriptor.security == .none || !stored.data.withUnsafeBytes({ EnvelopeHeader.begins($0) }) else {
                throw StorageError(
                    .securityApplicationFailed,
                    "\(document.name): the entry '\(entry.name)' is a sealed value, which its key would seal again; "
                        + "nothing was imported",
                    hint: "export it where a catalog describes its key, or restore a backup")
            }
            part.values.append(stored)
            part.bytes += stored.data.count
        }
        part.mark = reader.mark
        return part.values.isEmpty && part.expired == 0 ? nil : part
    }

    /// The same of a document that was checked.
    private func partAgain(_ reader: inout DocumentEntryReader) async throws -> Part? {
        do { return try await part(&reader) } catch let error as StorageError where error.code != .fileError {
            throw changed
        }
    }

    /// Where an entry belongs; `nil` if it is not selected.
    private func address(_ name: String) throws -> (StorageDomain, String)? {
        if case .addresses = shape {
            do throws(StorageError) {
                let descriptor = try StorageKeyDescriptor(address: name)
                guard selection.contains(descriptor.domain, descriptor.name) else { return nil }
                return (descriptor.domain, descriptor.name)
            } catch {
                throw StorageError(
                    error.code, "\(document.name): \(error.message); nothing was imported", hint: error.hint)
            }
        }
        guard let target else {
            throw StorageError(
                .invalidAddress, "\(document.name) has names, and no addresses; nothing was imported",
                hint: "say where they belong: ld-host import DOMAIN[:SCOPE] FILE")
        }
        return (target.domain, name)
    }

    private var changed: StorageError {
        StorageError(
            .busy, "\(document.name) was changed while it was imported", hint: "run it again when nobody writes to it")
    }
}
