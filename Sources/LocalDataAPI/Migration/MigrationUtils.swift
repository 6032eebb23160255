#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Checks for authors of migrations.
public enum MigrationUtils {
    /// The size of a value in bytes, serialized as the key does it and before it is sealed.
    public static func estimatedSize<Value>(of value: Value, for key: StorageKey<Value>) throws(StorageError) -> Int {
        try key.encode(value).count
    }

    /// The size of serialized data in bytes, before it is sealed.
    public static func estimatedSize(for data: Data) -> UInt64 { UInt64(data.count) }

    /// Whether values of one type can become values of another without code: the types are equal, or one of them is
    /// text.
    public static func canTransform<Source, Destination>(
        from source: Source.Type, to destination: Destination.Type
    ) -> Bool {
        Source.self == Destination.self || Source.self == String.self || Destination.self == String.self
    }

    /// Throws unless a value of one key can become a value of another unchanged; see
    /// ``validateCompatibility(from:to:)``.
    public static func validateCompatibility(
        source: StorageKeyDescriptor, destination: StorageKeyDescriptor
    ) throws(MigrationError) {
        try validateCompatibility(from: source, to: destination)
    }

    /// Throws unless a value of one key can become a value of another unchanged.
    ///
    /// - Throws: `incompatibleTypes` if the types differ, or both keys are the same; `validationFailed` if the move
    ///   would weaken the value's protection. A migration that intends that overrides `validate()`.
    public static func validateCompatibility(
        from source: StorageKeyDescriptor, to destination: StorageKeyDescriptor
    ) throws(MigrationError) {
        try validateCompatibility(from: source, to: destination, allowingOtherTypes: false)
    }

    package static func validateCompatibility(
        from source: StorageKeyDescriptor, to destination: StorageKeyDescriptor, allowingOtherTypes: Bool
    ) throws(MigrationError) {
        let (from, to) = ("'\(source.domain)/\(source.name)'", "'\(destination.domain)/\(destination.name)'")
        if !allowingOtherTypes {
            guard source.domain != destination.domain || !source.name.hasBytes(of: destination.name) else {
                throw MigrationError(.incompatibleTypes, "\(from) cannot be migrated to itself")
            }
            // A key without a type has no type name.
            let isSame = source.valueType == destination.valueType
            guard isSame || source.valueType.isEmpty || destination.valueType.isEmpty else {
                throw MigrationError(
                    .incompatibleTypes,
                    "\(from) has values of \(source.valueType), and \(to) of \(destination.valueType); "
                        + "use a migration that transforms them")
            }
        }
        guard !source.isProtected || destination.isProtected else {
            throw MigrationError(
                .validationFailed,
                "\(from) is protected (\(source.security)), but \(to) would store its data plain; give it a security policy"
            )
        }
    }
}

extension StorageKeyDescriptor {
    /// Whether values are sealed or kept in a keychain.
    fileprivate var isProtected: Bool {
        switch domain {
        case .keychain, .encryptedFileSystem: true
        default: security != .none
        }
    }
}
