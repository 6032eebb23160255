/// Values of an earlier release whose type, prefix or version key was another one, which nothing declares.
extension ContainerChain {
    /// Refuses to take a container for a new one, or its data for data without a version, if a stored version key says
    /// otherwise.
    ///
    /// - Parameters:
    ///   - candidates: Stored version keys of which it is not known whose they are.
    ///   - hasOwn: Whether the store has values of the container.
    /// - Throws: `validationFailed` with the line of code to add.
    func refuseSuspects(
        among candidates: [String], _ hasOwn: Bool, _ findings: Findings, in transaction: any StorageProviding
    ) async throws {
        let others = Set(findings.probe.others.flatMap(\.versionNames))
        for candidate in candidates where !others.contains(candidate) {
            let stem = ContainerVersionKey.stem(of: candidate)
            let below = try await values(below: stem, in: transaction)
            let version = try? await ContainerVersion.read(candidate, of: container, in: transaction)?.number
            let remedy: Remedy? =
                if isTaken(stem, findings) || hasOwn && usual.contains(candidate) {
                    .formerKey
                } else if let stem, !hasOwn, !findings.hasFound, version ?? 0 <= container.version, isLike(stem, below)
                {
                    // What a later release has moved away is not for this one.
                    .move(stem)
                } else {
                    nil
                }
            guard let remedy else { continue }
            throw suspicion(candidate, version, below, remedy)
        }
    }

    /// What makes an earlier release's values those of the container.
    private enum Remedy {
        /// Its version key is declared.
        case formerKey
        /// A step moves its values.
        case move(String)
    }

    /// The version keys that other designs give the container.
    private var usual: Set<String> {
        [
            ContainerVersionKey.shared.name, ContainerVersionKey.prefixed(container.prefix).name,
            ContainerVersionKey.containerVersion(container.prefix).name, ContainerVersionKey.typed(container.name).name,
        ]
    }

    /// The stored names below the stem of a version key, without those of longer ones.
    private func values(below stem: String?, in transaction: any StorageProviding) async throws -> [String] {
        guard let stem else { return [] }
        let names = try await listed(stem, in: transaction)
        let inner = names.filter { ContainerVersionKey.isReserved($0) }.compactMap { ContainerVersionKey.stem(of: $0) }
            .filter { $0 != stem }
        return names.filter { name in
            !ContainerVersionKey.isReserved(name) && !inner.contains { name.utf8.starts(with: $0.utf8) }
        }
    }

    /// Whether steps take values of another release, so that its version counts.
    private func isTaken(_ stem: String?, _ findings: Findings) -> Bool {
        guard let stem else { return false }
        return findings.names.contains { name in
            name.utf8.starts(with: stem.utf8) && !name.utf8.starts(with: container.derivedPrefix.utf8)
                && !container.isSetting(name) && !others.contains { $0.owns(name) }
        }
    }

    /// Whether the values beside a container may be its own under another name: settings of the same names, of a type
    /// with the same or a similar name, or no others than these.
    private func isLike(_ stem: String, _ below: [String]) -> Bool {
        let rests = below.map { String(decoding: $0.utf8.dropFirst(stem.utf8.count), as: UTF8.self) }
        var names: Set<String> = []
        for property in container.properties {
            let key = String(decoding: property.key.utf8.dropFirst(container.prefix.utf8.count), as: UTF8.self)
            names.formUnion([property.name, key])
        }
        let common = rests.filter { names.contains($0) }
        guard !common.isEmpty else { return false }
        let type = String(stem.dropLast().split(separator: ".").last ?? "")
        // Below the stem of a version key for a whole prefix, keys have the type's name, too.
        if common.contains(where: { $0.utf8.starts(with: "\(container.name).".utf8) }) { return true }
        if type == container.name || NameLikeness.areSimilar(type, container.name) { return true }
        return common.count == rests.count && stem.utf8.starts(with: container.prefix.utf8)
    }

    private func suspicion(_ key: String, _ version: Int?, _ below: [String], _ remedy: Remedy) -> MigrationError {
        let own = container.versionKey.name
        let line: String
        switch remedy {
        case .formerKey:
            let names = container.versionKey.formerly.map(\.name) + [key]
            let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
            line = "add: static let versionKey = ContainerVersionKey(\"\(own)\", formerly: [\(list)])"
        case .move(let stem):
            let move = ".movePrefix(\"\(stem)\", to: \"\(newStem(of: stem, below))\")"
            if let version, version < container.version {
                line = "begin the step \(version) -> \(version + 1) with: \(move)"
            } else {
                line =
                    "increase the version to \(container.version + 1), and add the step: ContainerStep(from: "
                    + "\(container.version), to: \(container.version + 1), [\(move)])"
            }
        }
        let shown = below.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
        let values = below.isEmpty ? "" : " (\(shown)\(below.count > 3 ? ", ..." : ""))"
        return MigrationError(
            .validationFailed,
            "the container '\(container.name)' has no version in '\(container.store)/\(own)', but "
                + "'\(container.store)/\(key)' has \(version.map { "version \($0)" } ?? "one"), and an earlier release may "
                + "have stored its settings there\(values). If they are this container's, \(line). If they are another "
                + "one's, open that one first, or add: static let otherKeys: [ContainerKey] = [.stored(\"\(key)\")]. Nothing "
                + "was changed")
    }

    /// What the keys below a stem begin with now.
    private func newStem(of stem: String, _ below: [String]) -> String {
        below.contains { $0.utf8.starts(with: "\(stem)\(container.name).".utf8) }
            ? container.prefix : container.derivedPrefix
    }

    /// Refuses to end a migration that has left a setting's value where an earlier release stored it.
    ///
    /// - Throws: `validationFailed` with the line of code to add.
    func requireNothingLeft(in transaction: any StorageProviding) async throws {
        let named = container.formerNames.map { "\(container.prefix)\($0)." }
        let stems = Set(named + formerVersionKeys.compactMap { ContainerVersionKey.stem(of: $0.name) })
        for stem in stems.sorted() where stem != container.derivedPrefix {
            for property in container.properties {
                for (old, new) in [
                    (stem, container.derivedPrefix), ("\(stem)\(container.name).", container.derivedPrefix),
                ] {
                    let name = old + property.name
                    guard name != property.key, !others.contains(where: { $0.owns(name) }),
                        try await transaction.exists(container.key(name)),
                        try await !transaction.exists(container.key(property.key))
                    else { continue }
                    throw MigrationError(
                        .validationFailed,
                        "the container '\(container.name)' has no value for the setting '\(property.name)', but an earlier "
                            + "release has stored one in '\(container.store)/\(name)', which no step moves; add to a step: "
                            + ".movePrefix(\"\(old)\", to: \"\(new)\"). Nothing was changed")
                }
            }
        }
    }
}
