#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The version of a container's data as the store has it.
package struct ContainerVersion: Sendable {
    /// The version: 1 or more.
    package let number: Int
    /// The name in the store where it is.
    package let name: String

    /// What is stored; `nil` if no version is.
    ///
    /// The container's own key counts if there is one, as it is written as one with the removal of earlier ones. Only
    /// if it is absent, an earlier name tells.
    ///
    /// - Throws: `validationFailed` with the key if what is stored is no whole number of 1 or more, or if the own key
    ///   and an earlier one have different versions.
    package static func stored(
        of container: ContainerDefinition, in transaction: any StorageProviding
    ) async throws -> ContainerVersion? {
        var found: ContainerVersion?
        for key in container.versionKey.formerly {
            guard let version = try await read(key.name, of: container, in: transaction) else { continue }
            if found == nil { found = version }
        }
        guard let own = try await read(container.versionKey.name, of: container, in: transaction) else { return found }
        guard let former = try await formerOfOne(container, transaction), former.number != own.number else {
            return own
        }
        throw MigrationError(
            .validationFailed,
            "the container '\(container.name)' has two versions: \(own.number) in '\(container.store)/\(own.name)' and "
                + "\(former.number) in the former key '\(container.store)/\(former.name)'; an earlier program has written "
                + "there. Move what it wrote, then remove the wrong version with: ld-host rm KEY")
    }

    /// The version in an earlier key that no other container can have used.
    private static func formerOfOne(
        _ container: ContainerDefinition, _ transaction: any StorageProviding
    ) async throws -> ContainerVersion? {
        for key in container.versionKey.formerly where !key.isShared {
            if let version = try await read(key.name, of: container, in: transaction) { return version }
        }
        return nil
    }

    private static func read(
        _ name: String, of container: ContainerDefinition, in transaction: any StorageProviding
    ) async throws -> ContainerVersion? {
        guard let data = try await transaction.data(for: container.key(name, serializer: .data)) else { return nil }
        guard let number = number(in: data) else {
            throw MigrationError(
                .validationFailed,
                "the version of the container '\(container.name)' in '\(container.store)/\(name)' is not a whole "
                    + "number of 1 or more; store the version that its data has: "
                    + "ld-host set '\(container.store)/\(name)' VERSION")
        }
        return ContainerVersion(number: number, name: name)
    }

    /// A whole number of 1 or more in decimal digits, as JSON writes it; `nil` for anything else.
    static func number(in data: Data) -> Int? {
        guard data.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            data.first != UInt8(ascii: "0"), let number = Int(String(decoding: data, as: UTF8.self)), number >= 1
        else { return nil }
        return number
    }
}
