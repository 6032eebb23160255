/// A kind of event in a history. A history is made of those that are enabled.
enum HistoryKind: String, CaseIterable, Codable, Sendable {
    /// Keys get another place.
    case places
    /// A key returns to a place that it had.
    case returns
    /// Keys get another name, with a migration that says so.
    case names
    /// Keys get another type or serializer, with a migration.
    case types
    /// Keys are protected from some release on.
    case policies
    /// A later release protects less.
    case weaker
    /// Some releases register a catalog, others do not.
    case catalogs
    /// All releases register a catalog.
    case catalogued
    /// Releases set a sub-directory for files.
    case subDirectories
    /// A user skips a release.
    case skips
    /// Keys get another name more than once, so that a user may skip one of the names.
    case skippedNames
    /// A user goes back to an earlier release.
    case downgrades
    /// Values are removed.
    case removals
    /// Two keys with one name are used side by side.
    case twins
    /// Preferences are in a database.
    case databases
    /// Types are versions of a chain.
    case chains
    /// Users back up and restore.
    case backups
    /// Another app has the same keys.
    case secondApp
    /// Apps have containers, whose settings get other names and types.
    case containers
    /// Apps with containers register catalogs of their keys.
    case cataloguedContainers
    /// Settings are set before their container is open.
    case early
    /// Containers get another prefix or name.
    case branches
    /// The code of such a container has the step, but names no former version key.
    case undeclared
    /// A container gets settings of another one, or gives it some.
    case splits
    /// Users set values with the program in between.
    case tool
    /// Users look with the program at values that their keys' policies seal.
    case sealedLooks
    /// Apps ask whether a value exists.
    case exists
    /// Synchronous code reads values.
    case readsAtOnce
    /// Values are read and changed by `update`.
    case updates
    /// Values are written in batches.
    case batches
    /// A second device has the app in another release, and both sync now and then.
    case devices

    /// The kinds that are played together, unless a person chooses others. What is in none of them is not handled yet.
    static let campaigns: [Set<HistoryKind>] = [
        [
            .names, .types, .chains, .skips, .catalogs, .batches, .updates, .containers, .splits, .databases, .tool,
            .removals,
        ],
        [.places, .returns, .subDirectories, .catalogs, .updates, .batches, .skips],
        [.places, .names, .skippedNames, .skips, .catalogs, .readsAtOnce, .batches],
        [.places, .returns, .catalogs, .downgrades, .skips, .removals, .twins, .updates, .exists],
        [.places, .policies, .weaker, .sealedLooks, .tool, .secondApp],
        [
            .containers, .branches, .undeclared, .cataloguedContainers, .early, .splits, .downgrades, .removals, .tool,
        ],
        [.places, .returns, .names, .skips, .catalogs, .backups, .removals, .secondApp, .batches],
        [.places, .chains, .types, .policies, .backups, .skips, .updates],
        [
            .devices, .places, .chains, .returns, .skips, .downgrades, .removals, .batches, .databases, .subDirectories,
        ],
        [.devices, .places, .chains, .policies, .returns, .skips, .removals, .batches, .databases],
        [.devices, .names, .types, .skips, .removals, .batches, .databases],
    ]
}
