internal import HostSync
internal import LocalDataAPI

/// The containers that a router has opened, by the keys of their versions.
struct ContainerClaims: Sendable {
    struct Claim: Sendable {
        /// The type with its module.
        let type: String
        let definition: ContainerDefinition
    }

    private(set) var claims: [Claim] = []

    /// Takes note of a container.
    ///
    /// - Throws: `validationFailed` naming both types if another one has the same version key, or the same keys.
    mutating func claim(_ type: String, _ definition: ContainerDefinition) throws(MigrationError) {
        for other in claims where other.definition.store == definition.store && other.type != type {
            guard other.definition.versionKey.name != definition.versionKey.name else {
                throw MigrationError(
                    .validationFailed,
                    "the containers '\(other.type)' and '\(type)' have the same version key, "
                        + "'\(definition.store)/\(definition.versionKey.name)', so each would take the other's version for "
                        + "its own; give one of them another versionKey or name")
            }
            let keys = Set(other.definition.properties.map(\.key))
            if let both = definition.properties.first(where: { keys.contains($0.key) }) {
                throw MigrationError(
                    .validationFailed,
                    "the containers '\(other.type)' and '\(type)' have the same key, '\(definition.store)/\(both.key)'; "
                        + "give one of them another key, name or prefix")
            }
        }
        claims.removeAll { $0.type == type && $0.definition.store == definition.store }
        claims.append(Claim(type: type, definition: definition))
    }

    /// The definitions of all but one.
    func others(than type: String) -> [ContainerDefinition] { claims.filter { $0.type != type }.map(\.definition) }
}
