/// What can be known to be wrong before anything is read.
extension ContainerChain {
    /// - Parameter isComplete: Whether all steps to the version must be there.
    /// - Throws: `validationFailed` if a step is missing, is there twice or leads nowhere, or if settings get in each
    ///   other's way, or if a declared step moves a value to a key that no setting has; `conflict` if a declared step
    ///   moves two values to one key, or one to two.
    package func validate(complete isComplete: Bool = true) throws(MigrationError) {
        try container.validate()
        for step in steps {
            guard step.from >= 1, step.to == step.from + 1 else {
                throw refused("has the step \(step.from) -> \(step.to); a step leads from a version to the next")
            }
            guard step.to <= container.version else {
                throw refused(
                    "has the step \(step.from) -> \(step.to), but its version is \(container.version); increase it")
            }
        }
        for (step, next) in zip(steps, steps.dropFirst()) where step.from == next.from {
            throw refused("has the step \(step.from) -> \(step.to) twice; join the two")
        }
        for step in steps { try validate(step) }
        guard isComplete else { return }
        try requireSteps(from: container.baseline)
        try requireSettings()
    }

    /// What programmed steps do is known only when they run; they may also move on what earlier ones have stored.
    private func requireSettings() throws(MigrationError) {
        var trace = ContainerTrace()
        for step in steps {
            guard let changes = step.changes else {
                trace = ContainerTrace()
                continue
            }
            for change in changes { follow(change, of: step, in: &trace) }
        }
        try trace.requireSettings(of: container)
    }

    private func follow(_ change: ContainerEdit, of step: ContainerStep, in trace: inout ContainerTrace) {
        let (scheme, text) = (scheme(of: step), "the step \(step.from) -> \(step.to)")
        func name(_ key: ContainerKey) -> String {
            let name = storedName(of: key, in: step)
            return scheme.withoutModule(name) ?? name
        }
        switch change {
        case .renames(let renames): trace.rename(renames.map { (name($0.from), name($0.to)) }, by: text)
        case .prefix(let old, let new): trace.shift(.prefix(old, to: new))
        case .remove(let key): trace.take(name(key))
        case .setDefault(let key, _): trace.write(name(key), by: text)
        case .move(let from, let to):
            if !ContainerStore.isAddress(from) { trace.take(name(ContainerKey(from))) }
            if !ContainerStore.isAddress(to) { trace.write(name(ContainerKey(to)), by: text) }
        }
    }

    private func validate(_ step: ContainerStep) throws(MigrationError) {
        let what = "has the step \(step.from) -> \(step.to), which"
        func stored(_ key: ContainerKey) throws(MigrationError) -> String {
            let name = storedName(of: key, in: step)
            guard !ContainerVersionKey.isReserved(name), !container.versionNames.contains(name) else {
                throw refused("\(what) changes '\(container.store)/\(name)', a name that is reserved for versions")
            }
            return "\(container.store)/\(name)"
        }
        for change in step.changes ?? [] {
            switch change {
            case .renames(let renames):
                let moves = try renames.map { (rename) throws(MigrationError) in
                    (from: try stored(rename.from), to: try stored(rename.to))
                }
                if let collision = ContainerMove.collision(of: moves.filter { $0.from != $0.to }) {
                    throw MigrationError(.conflict, refused("\(what) \(collision)").message)
                }
            case .remove(let key), .setDefault(let key, _): _ = try stored(key)
            case .prefix, .move: break
            }
        }
    }

    /// - Throws: `validationFailed` with the first missing step.
    package func requireSteps(from version: Int) throws(MigrationError) {
        let known = Set(steps.map(\.from))
        guard version < container.version,
            let missing = (version..<container.version).first(where: { !known.contains($0) })
        else { return }
        throw refused(
            "has version \(container.version), but no step \(missing) -> \(missing + 1), which data of version \(version) "
                + "needs; add it to 'steps', where every step stays. Nothing was changed")
    }

    private func refused(_ what: String) -> MigrationError {
        MigrationError(.validationFailed, "the container '\(container.name)' \(what)")
    }
}
