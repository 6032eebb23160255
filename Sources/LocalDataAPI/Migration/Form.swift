/// One element of the list.
struct Form: Codable {
    struct Range: Codable {
        let domain: String
        var prefix: String?
        var serializer: SerializerFormat?
        var security: SecurityPolicy?

        init(_ range: MigrationRange) {
            domain = "\(range.domain)"
            prefix = range.prefix
            serializer = range.serializer
            security = range.security
        }

        func range() throws(StorageError) -> MigrationRange {
            let parts = try StorageAddress.parts(of: domain)
            guard parts.name == nil else {
                throw StorageError(.invalidAddress, "the range '\(domain)' has a name; expected domain[:scope]")
            }
            return MigrationRange(
                domain: try StorageDomain(name: parts.domain, scope: parts.scope), prefix: prefix ?? "",
                security: security, serializer: serializer ?? .data)
        }
    }

    struct Bulk: Codable {
        let source: Range
        let destination: Range
        var converts: Bool?
    }

    let id: String
    var revision: Int?
    var summary: String?
    var fingerprint: String?
    var effect: MigrationEffect?
    var destination: MigrationKeyForm?
    var sources: [MigrationKeyForm]?
    var dependencies: [String]?
    var conflictPolicy: MigrationConflictPolicy?
    var bulk: Bulk?
    var container: Bool?

    init(_ migration: AnyStorageMigration) {
        id = migration.id
        revision = migration.revision
        summary = migration.summary
        fingerprint = migration.fingerprint
        effect = migration.effect
        destination = MigrationKeyForm(migration.destinationDescriptor)
        sources = migration.sources.map { MigrationKeyForm($0.descriptor) }
        dependencies = migration.dependencies
        conflictPolicy = migration.conflictPolicy
        container = migration.origin == .container ? true : nil
    }

    init(_ migration: AnyBulkMigration) {
        id = migration.id
        revision = migration.revision
        summary = migration.summary
        fingerprint = migration.fingerprint
        dependencies = migration.dependencies
        conflictPolicy = migration.conflictPolicy
        bulk = Bulk(
            source: Range(migration.source), destination: Range(migration.destination),
            converts: migration.changesValues)
    }

    func description() throws(StorageError) -> MigrationDescription {
        guard (destination == nil) != (bulk == nil) else {
            throw StorageError(
                .invalidAddress, "its target is not clear; expected either 'destination' or 'bulk'")
        }
        var keys: [AnyStorageKey] = []
        for source in sources ?? [] { keys.append(try source.key()) }
        return MigrationDescription(
            id: id, revision: revision ?? 1, summary: summary ?? "", fingerprint: fingerprint,
            effect: effect ?? .brings,
            destination: try destination.map { (form) throws(StorageError) in try form.key() }, sources: keys,
            dependencies: dependencies ?? [], conflictPolicy: conflictPolicy ?? .keepDestination,
            bulk: try bulk.map { (form) throws(StorageError) in
                MigrationDescription.Bulk(
                    source: try form.source.range(), destination: try form.destination.range(),
                    converts: form.converts ?? false)
            }, isOfContainer: container ?? false)
    }
}
