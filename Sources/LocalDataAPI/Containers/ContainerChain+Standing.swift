/// Which version the data has.
extension ContainerChain {
    /// What there is to migrate.
    package enum Standing: Equatable, Sendable {
        /// There is nothing of the container yet: it gets the current version.
        case fresh
        /// There is data of this version.
        ///
        /// - isStored: Whether the version's own key says so, and no earlier key another one.
        case version(Int, isStored: Bool)
    }

    /// The version that is stored, under whatever key.
    package struct FoundVersion: Sendable {
        package let number: Int
        /// Whether the version's own key says so, and no earlier key another one.
        package var isClean = false
        /// Whether it is one of two, and was chosen.
        package var isChosen = false
    }

    /// - Throws: `newerRevision` with both versions if a later program has migrated the data; `validationFailed` if the
    ///   stored version cannot be one, if there are two, or if values of an earlier release are stored under a name
    ///   that neither the container nor its steps declare.
    package func standing(
        in transaction: any StorageProviding, _ context: MigrationContext
    ) async throws -> Standing {
        if let found = try await versions(in: transaction, context) {
            guard found.number <= container.version else {
                throw MigrationError(
                    .newerRevision,
                    "the data of the container '\(container.name)' in '\(container.store)' has version \(found.number), and "
                        + "this program has version \(container.version); use a later version of the program")
            }
            return .version(found.number, isStored: found.isClean)
        }
        let (candidates, hasOwn) = (try await candidates(in: transaction), try await hasOwnData(in: transaction))
        if hasOwn, candidates.isEmpty { return .version(container.baseline, isStored: false) }
        let findings = try await findings(in: transaction, context)
        try await refuseSuspects(among: candidates, hasOwn, findings, in: transaction)
        return hasOwn || findings.hasFound ? .version(container.baseline, isStored: false) : .fresh
    }

    func version(_ transaction: any StorageProviding, _ context: MigrationContext) async throws -> Int? {
        switch try await standing(in: transaction, context) {
        case .fresh: nil
        case .version(let number, _): number
        }
    }

    func needsStamp(_ transaction: any StorageProviding, _ context: MigrationContext) async throws -> Bool {
        switch try await standing(in: transaction, context) {
        case .fresh: return true
        case .version(let number, let isStored):
            // The host runs a pack's steps one by one, and no step finds data that is older than all of them.
            try requireSteps(from: number)
            return number == container.version && !isStored
        }
    }

    /// The stored version; `nil` if no version is.
    ///
    /// The container's own key counts if there is one, as it is written as one with the removal of earlier ones. An
    /// earlier key that says something else was written since, by an earlier release. If that release has stored
    /// nothing but its version, it has only looked, and its version does not count.
    ///
    /// - Parameter choice: Which version counts if there are two.
    /// - Throws: `validationFailed` if there are two, or if what is stored is no version.
    package func versions(
        in transaction: any StorageProviding, _ context: MigrationContext,
        choosing choice: ContainerVersionChoice? = nil
    ) async throws -> FoundVersion? {
        var (former, shared): ([ContainerVersion], ContainerVersion?) = ([], nil)
        for key in formerVersionKeys {
            guard let version = try await ContainerVersion.read(key.name, of: container, in: transaction) else {
                continue
            }
            if !key.isShared { former.append(version) } else if shared == nil { shared = version }
        }
        guard let own = try await ContainerVersion.read(container.versionKey.name, of: container, in: transaction)
        else {
            if former.isEmpty, shared == nil {
                for name in try await learned(in: transaction, context) {
                    guard let version = try await ContainerVersion.read(name, of: container, in: transaction) else {
                        continue
                    }
                    former.append(version)
                }
            }
            return try await decided(former, transaction, context, choice)
                ?? shared.map { FoundVersion(number: $0.number) }
        }
        let different = former.filter { $0.number != own.number }
        guard !different.isEmpty else { return FoundVersion(number: own.number, isClean: true) }
        for version in different
        where try await hasData(of: version, before: own.number, besides: [], in: transaction, context) {
            switch choice {
            case .current: return FoundVersion(number: own.number, isChosen: true)
            case .former: return FoundVersion(number: version.number, isChosen: true)
            case nil: throw twoVersions(own, version)
            }
        }
        return FoundVersion(number: own.number)
    }

    /// Which of several earlier versions counts: the one that has data.
    private func decided(
        _ versions: [ContainerVersion], _ transaction: any StorageProviding, _ context: MigrationContext,
        _ choice: ContainerVersionChoice?
    ) async throws -> FoundVersion? {
        guard let latest = versions.max(by: { $0.number < $1.number }) else { return nil }
        guard versions.contains(where: { $0.number != latest.number }) else {
            return FoundVersion(number: latest.number)
        }
        var full: [ContainerVersion] = []
        for version in versions {
            let stems = versions.compactMap { $0.name == version.name ? nil : ContainerVersionKey.stem(of: $0.name) }
            if try await hasData(of: version, before: version.number + 1, besides: stems, in: transaction, context) {
                full.append(version)
            }
        }
        guard let newest = full.max(by: { $0.number < $1.number }),
            let oldest = full.min(by: { $0.number < $1.number }), newest.number != oldest.number
        else { return FoundVersion(number: full.first?.number ?? latest.number) }
        switch choice {
        case .current: return FoundVersion(number: newest.number, isChosen: true)
        case .former: return FoundVersion(number: oldest.number, isChosen: true)
        case nil: throw twoVersions(newest, oldest)
        }
    }

    private func twoVersions(_ own: ContainerVersion, _ former: ContainerVersion) -> MigrationError {
        MigrationError(
            .validationFailed,
            "the container '\(container.name)' has two versions: \(own.number) in '\(container.store)/\(own.name)' and "
                + "\(former.number) in the former key '\(container.store)/\(former.name)'; an earlier release has stored "
                + "settings since. Ask the user which ones to keep, and call UserDefaultsMigrationManager.keep(.current, of: "
                + "\(container.name).self) or keep(.former, of: \(container.name).self); nothing was changed")
    }

    /// Whether an earlier release has stored something besides its version: below the stem of its version key, or where
    /// its steps look.
    ///
    /// - Parameters:
    ///   - end: The version whose data is known to be elsewhere.
    ///   - stems: What the keys of other releases begin with.
    private func hasData(
        of version: ContainerVersion, before end: Int, besides stems: [String], in transaction: any StorageProviding,
        _ context: MigrationContext
    ) async throws -> Bool {
        let (settings, others) = (Set(container.properties.map(\.key)), Set(container.otherNames))
        var foreign = stems
        func counts(_ name: String) -> Bool {
            !ContainerVersionKey.isReserved(name) && !settings.contains(name) && !others.contains(name)
                && !foreign.contains { name.utf8.starts(with: $0.utf8) } && !self.others.contains { $0.owns(name) }
        }
        if let stem = ContainerVersionKey.stem(of: version.name) {
            let own = Set(versionNames)
            let names = try await listed(stem, in: transaction)
            for name in names where ContainerVersionKey.isReserved(name) && !own.contains(name) {
                if let other = ContainerVersionKey.stem(of: name), other != stem { foreign.append(other) }
            }
            if names.contains(where: counts) { return true }
        }
        for step in steps where step.from >= version.number && step.from < end {
            let probing = ProbingTransaction(transaction)
            try? await step.run(on: ContainerStore(self, step, probing, context))
            if probing.found(in: container.store).contains(where: counts) { return true }
            if let failure = probing.failure { throw failure }
        }
        return false
    }

    /// The stored names behind a prefix; none if the store does not list its names.
    func listed(_ prefix: String, in transaction: any StorageProviding) async throws -> [String] {
        do { return try await transaction.names(in: container.store, prefix: prefix) } catch StorageError.unsupported {
            return []
        }
    }

    /// Whether the store has a value of a setting, or one with a derived key of the container's present or former
    /// names.
    private func hasOwnData(in transaction: any StorageProviding) async throws -> Bool {
        for property in container.properties where try await transaction.exists(container.key(property.key)) {
            return true
        }
        for name in [container.name] + container.formerNames {
            let names = try await listed("\(container.prefix)\(name).", in: transaction)
            if names.contains(where: { !ContainerVersionKey.isReserved($0) }) { return true }
        }
        return false
    }
}
