internal import LocalDataAPI

/// A container in the manifest of a release and in a later one: what has to be moved, and what is forgotten.
struct ContainerComparison {
    let old: ContainerChain
    let new: ContainerChain

    /// The pairs of a manifest and a later one, and the containers that are gone.
    static func all(
        _ old: [ContainerChain], _ new: [ContainerChain]
    ) -> (pairs: [ContainerComparison], gone: [ContainerDefinition]) {
        var (pairs, gone): ([ContainerComparison], [ContainerDefinition]) = ([], [])
        for chain in old {
            let name = chain.container.name
            let same = new.first { $0.container.name == name && $0.container.store == chain.container.store }
            let renamed = new.first { next in
                next.container.store == chain.container.store
                    && (next.container.formerNames.contains(name)
                        || next.formerVersionKeys.contains { $0.name == chain.container.versionKey.name })
            }
            if let next = same ?? renamed {
                pairs.append(ContainerComparison(old: chain, new: next))
            } else {
                gone.append(chain.container)
            }
        }
        return (pairs, gone)
    }

    private var before: ContainerDefinition { old.container }
    private var after: ContainerDefinition { new.container }
    private var changes: [ContainerChange] { detectChanges(from: before, to: after) }

    /// The step that is missing, with renames that are guesses; `nil` if no step is.
    var missingStep: ContainerStep? {
        guard !new.steps.contains(where: { $0.from == before.version }) else { return nil }
        let edits = edits
        guard !edits.isEmpty else { return nil }
        return ContainerStep(from: before.version, to: before.version + 1, edits)
    }

    /// The key of the version that the later release does not find; `nil` if it does.
    var lostVersionKey: String? {
        let old = before.versionKey.name
        // The missing step may move it.
        let steps = new.steps + (missingStep.map { [$0] } ?? [])
        let names = [after.versionKey.name] + ContainerChain(after, steps).formerVersionKeys.map(\.name)
        return names.contains(old) ? nil : old
    }

    /// The guesses in it, as questions.
    var questions: [String] {
        changes.compactMap { change in
            guard case .propertyRenamed(let from, let to) = change, from != to else { return nil }
            return "'\(after.name)': is '\(to)' what '\(from)' was? If not, remove '\(from)' instead of renaming it"
        }
    }

    private var edits: [ContainerEdit] {
        let isMoved = before.derivedPrefix != after.derivedPrefix
        let prefix: [ContainerEdit] =
            isMoved ? [.movePrefix(before.derivedPrefix, to: after.derivedPrefix)] : []
        var (renames, removals): ([ContainerRename], [ContainerEdit]) = ([], [])
        for change in changes {
            switch change {
            case .propertyRenamed(let from, let to):
                let (old, new) = (key(from, in: before), key(to, in: after))
                if old != new { renames.append(ContainerRename(old, to: new)) }
            case .propertyRemoved(let name): removals.append(.remove(key(name, in: before)))
            case .propertyAdded: continue
            }
        }
        return prefix + (renames.isEmpty ? [] : [.renames(renames)]) + removals
    }

    /// The key of a setting: its name, or the stored key that the code gives it.
    private func key(_ name: String, in container: ContainerDefinition) -> ContainerKey {
        guard let property = container.properties.first(where: { $0.name == name }), property.isExplicit else {
            return ContainerKey(name)
        }
        return ContainerKey(property.key).isStored ? ContainerKey(property.key) : .stored(property.key)
    }

    /// Losses and refusals for users of the earlier release, one sentence each.
    var problems: [String] {
        let name = "the container '\(after.name)'"
        guard after.version >= before.version else {
            return ["\(name) has version \(after.version), and version \(before.version) was released; increase it"]
        }
        var problems = changedSteps.map {
            "\(name) has a step \($0.from) -> \($0.to) that differs from the released one; "
                + "restore it, and add a new step"
        }
        if let lost = lostVersionKey {
            problems.append(
                "\(name) has the version key '\(after.versionKey.name)', and '\(lost)' was released; "
                    + "name that one in formerVersionKeys")
        }
        guard after.version > before.version else {
            return problems
                + left(before.properties.map(\.key)).map {
                    "\(name) has lost the key '\($0)', but its version is still \(after.version); increase the version, and "
                        + "add the step \(after.version) -> \(after.version + 1)"
                }
        }
        return problems
            + left(moved()).map {
                "\(name) has no setting for the key '\($0)' of version \(before.version), and no step moves or removes it"
            }
    }

    private var changedSteps: [ContainerStep] {
        new.steps.filter { step in
            old.steps.contains { $0.from == step.from && $0.manifest != step.manifest }
        }
    }

    /// The keys among some that no setting has.
    private func left(_ keys: [String]) -> [String] {
        let known = Set(after.properties.map(\.key) + after.otherNames)
        return keys.filter { !known.contains($0) }
    }

    /// Where the steps leave the earlier keys, as far as they are declared: what a programmed one does is its own.
    private func moved() -> [String] {
        let steps = new.steps.filter { $0.from >= before.version }
        guard steps.allSatisfy({ $0.changes != nil }) else { return [] }
        var keys = before.properties.map(\.key)
        for step in steps {
            let scheme = ContainerDefinition(
                name: step.name ?? after.name, prefix: step.prefix ?? after.prefix, store: after.store)
            func stored(_ key: ContainerKey) -> String {
                key.isStored
                    ? key.text
                    : step.prefix == nil && step.name == nil ? after.keyFor(key.text) : scheme.keyFor(key.text)
            }
            for change in step.changes ?? [] {
                keys = keys.compactMap { key in Self.moved(key, by: change, stored) }
            }
        }
        return keys
    }

    /// Where a change leaves a key; `nil` if it takes it away.
    private static func moved(
        _ key: String, by change: ContainerEdit, _ stored: (ContainerKey) -> String
    ) -> String? {
        switch change {
        case .renames(let renames): renames.first { stored($0.from) == key }.map { stored($0.to) } ?? key
        case .prefix(let old, let new):
            key.utf8.starts(with: old.utf8)
                ? new + String(decoding: key.utf8.dropFirst(old.utf8.count), as: UTF8.self) : key
        case .remove(let removed): stored(removed) == key ? nil : key
        case .setDefault: key
        case .move(let from, _): stored(ContainerKey(from)) == key ? nil : key
        }
    }
}
