/// Where an earlier release may have stored the version.
extension ContainerChain {
    /// The keys that can be known without looking: those that are declared, those of former names, and those that the
    /// declared steps take to the container's own.
    func declaredFormerKeys() -> [ContainerVersionKey] {
        let own = container.versionKey.name
        var names = [ContainerVersionKey.container(container.name, prefix: container.prefix).name]
        for step in steps.reversed() {
            for shift in step.shifts.reversed() {
                names += ([own] + names).compactMap { shift.source(of: $0) }
            }
            if step.prefix != nil || step.name != nil {
                let scheme = scheme(of: step)
                names.append(ContainerVersionKey.container(scheme.name, prefix: scheme.prefix).name)
            }
        }
        let prefixes = [container.prefix] + steps.compactMap(\.prefix)
        for name in container.formerNames {
            names += prefixes.map { ContainerVersionKey.container(name, prefix: $0).name }
        }
        var keys = container.versionKey.formerly.filter { $0.name != own }
        let foreign = Set(container.otherNames + others.flatMap(\.versionNames))
        for name in names where name != own && !foreign.contains(name) && !keys.contains(where: { $0.name == name }) {
            keys.append(ContainerVersionKey(name))
        }
        return keys
    }

    /// The same chain with the version keys that only its programmed steps name.
    func learning(from transaction: any StorageProviding, _ context: MigrationContext) async throws -> ContainerChain {
        for name in [container.versionKey.name] + formerVersionKeys.map(\.name)
        where try await transaction.exists(container.key(name)) {
            return self
        }
        return knowing(try await learned(in: transaction, context))
    }

    /// The stored version keys that the steps name, or take to the container's own.
    func learned(in transaction: any StorageProviding, _ context: MigrationContext) async throws -> [String] {
        let candidates = try await candidates(in: transaction)
        guard !candidates.isEmpty else { return [] }
        let probe = try await findings(in: transaction, context).probe
        let own = Set([container.versionKey.name] + formerVersionKeys.map(\.name))
        return candidates.filter { candidate in
            var name = candidate
            for step in steps {
                if probe.versionKeys(from: step.from).contains(where: { $0.from == candidate || $0.to == candidate }) {
                    return true
                }
                for shift in probe.shifts(from: step.from) { name = shift.destination(of: name) ?? name }
            }
            return own.contains(name)
        }
    }

    /// The stored names with the form of a version key of which it is not known whose they are.
    func candidates(in transaction: any StorageProviding) async throws -> [String] {
        let known = Set([container.versionKey.name] + formerVersionKeys.map(\.name) + container.otherNames)
            .union(others.filter { $0.store == container.store }.flatMap(\.versionNames))
        return try await listed("", in: transaction).filter {
            ContainerVersionKey.isReserved($0) && !known.contains($0)
        }
    }

    /// What the steps say and find when they run without effect.
    struct Findings {
        let probe = ContainerProbe()
        /// Whether a step that data without a version needs finds anything.
        var hasFound = false
        /// The names that steps find in the container's place.
        var names: Set<String> = []
    }

    /// - Throws: Why something could not be looked for, if nothing else is found: a container that counts as new would
    ///   never get what cannot be read now. `validationFailed` if a call of a step can never work.
    func findings(in transaction: any StorageProviding, _ context: MigrationContext) async throws -> Findings {
        var findings = Findings()
        var failure: (any Error)?
        for step in steps {
            let probing = ProbingTransaction(transaction)
            // What the step itself throws is thrown again when it runs, if it finds anything.
            try? await step.run(on: ContainerStore(self, step, probing, context, probe: findings.probe))
            if let failure = findings.probe.failure { throw failure }
            findings.names.formUnion(probing.found(in: container.store))
            guard step.from >= container.baseline else { continue }
            if probing.hasFound { findings.hasFound = true }
            if !findings.hasFound { failure = failure ?? probing.failure }
        }
        if let failure, !findings.hasFound { throw failure }
        return findings
    }
}

/// A container as the release of an earlier version has stored it, as far as its steps say.
package struct PastContainer: Sendable {
    /// Where that release stores the version.
    package let versionKey: String
    fileprivate let container: ContainerDefinition
    /// What the names of its settings meant then, if a step says so.
    fileprivate let scheme: ContainerDefinition?
    /// The moves of prefixes since, the last one first.
    fileprivate let shifts: [ContainerShift]

    fileprivate init(
        versionKey: String, container: ContainerDefinition, scheme: ContainerDefinition?, shifts: [ContainerShift]
    ) {
        (self.versionKey, self.container, self.scheme, self.shifts) = (versionKey, container, scheme, shifts)
    }

    /// A release whose container is known.
    package init(_ release: ContainerDefinition) {
        self.init(versionKey: release.versionKey.name, container: release, scheme: nil, shifts: [])
    }

    /// The place of its settings.
    package var store: StorageDomain { container.store }

    /// The key under which that release stores a setting.
    package func name(of key: ContainerKey) -> String {
        if key.isStored { return key.text }
        if let scheme { return scheme.keyFor(key.text) }
        return shifts.reduce(container.keyFor(key.text)) { name, shift in shift.source(of: name) ?? name }
    }
}

extension ContainerChain {
    /// The container as the release of a version has stored it.
    ///
    /// - Parameter store: A store without values; the steps run on it, without effect.
    package func past(_ version: Int, in store: any StorageProviding) async throws -> PastContainer {
        let probe = try await findings(in: store, MigrationContext()).probe
        let later = steps.filter { $0.from >= version }
        let shifts = later.reversed().flatMap { probe.shifts(from: $0.from).reversed() }
        let own = container.versionKey.name
        var versionKey = shifts.reduce(own) { name, shift in shift.source(of: name) ?? name }
        if version < container.version, let declared = container.versionKey.formerly.first {
            versionKey = declared.name
        }
        if let named = later.lazy.compactMap({ probe.versionKeys(from: $0.from).first?.from }).first {
            versionKey = named
        }
        let step = later.first { $0.from == version && ($0.prefix != nil || $0.name != nil) }
        return PastContainer(
            versionKey: versionKey, container: container, scheme: step.map { scheme(of: $0) }, shifts: shifts)
    }
}
