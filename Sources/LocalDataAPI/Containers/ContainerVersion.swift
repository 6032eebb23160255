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

    /// The version of another container, for a step that moves values there: that of its own key, or else the first
    /// that an earlier key has; `nil` if no version is stored.
    ///
    /// - Throws: `validationFailed` with the key if what is stored is no whole number of 1 or more.
    static func first(
        of container: ContainerDefinition, _ former: [ContainerVersionKey], in transaction: any StorageProviding
    ) async throws -> ContainerVersion? {
        for name in [container.versionKey.name] + former.map(\.name) {
            if let version = try await read(name, of: container, in: transaction) { return version }
        }
        return nil
    }

    /// The version under one key; `nil` if none is stored.
    ///
    /// - Throws: `validationFailed` with the key if what is stored is no whole number of 1 or more.
    package static func read(
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
