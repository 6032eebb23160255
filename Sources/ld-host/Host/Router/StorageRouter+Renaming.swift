internal import FoundationEssentials
internal import HostGround
internal import HostMigration
internal import HostStores
package import LocalDataAPI

/// A stored value under another key.
extension StorageRouter {
    /// How a value comes to another key.
    package enum Renaming: Sendable {
        /// The first key keeps it.
        case copies
        /// The first key loses it in the same step.
        case moves
    }

    /// Brings a value to another key as it is, with what was recorded beside it and when it expires, all or nothing.
    /// A key in no catalog gets the policy of the first one, so that a sealed value stays sealed. The value is in
    /// memory, about three times.
    ///
    /// - Parameter replaces: Whether a value that the target has is replaced.
    /// - Throws: `notFound` if there is no value; `conflict` if the target has one and it is not replaced;
    ///   `securityApplicationFailed` if the target would keep a sealed value unsealed; `serializationFailed` if a
    ///   catalog describes the target and the bytes are no value of it; `busy` if others change them again and again.
    ///   Then nothing has changed.
    package func bring(
        _ source: AnyStorageKey, to target: AnyStorageKey, _ renaming: Renaming, replaces: Bool
    ) async throws {
        try await following { try await bringOnce(source, to: target, renaming, replaces: replaces) }
    }

    private func bringOnce(
        _ source: AnyStorageKey, to target: AnyStorageKey, _ renaming: Renaming, replaces: Bool
    ) async throws {
        let target = target.sealed(as: source)
        let (from, to) = (try await settled(source), try await settled(target))
        guard from.target != to.target, !from.isOtherPath(of: to) else {
            throw StorageError(
                .invalidAddress, "'\(from.address)' and '\(to.address)' are the same value",
                hint: "give the address that it is to have")
        }
        if let refusal = from.refusal ?? to.refusal { throw refusal }
        guard source.descriptor.security == .none || target.descriptor.security != .none else {
            throw StorageError(
                .securityApplicationFailed,
                "'\(from.address)' is a secret, which '\(to.address)' would keep readable; nothing was changed",
                hint: "choose an address in 'keychain' or 'encryptedFileSystem', or one whose key a catalog seals")
        }
        if renaming == .moves { try await requireOwner(from, source.descriptor) }
        try await requireOwner(to, target.descriptor)
        for _ in 0..<4 {
            var views: [AtomicScope: StoreView] = [:]
            guard let stored = try await from.stored(&views) else { throw await notStored(source) }
            guard try await to.stored(&views) == nil || replaces else {
                throw StorageError(
                    .conflict, "'\(to.address)' has a value, which would be lost; nothing was changed",
                    hint: "choose another address, or replace it with --overwrite")
            }
            let value = try GivenValue(for: target, as: nil).bytes(try await from.opened(stored))
            let written = try to.writing(to.attributes?.describing(try await from.storedAttributes()))
            var changes = [BatchChange(written, value: try await to.sealedValue(), data: value)]
            if renaming == .moves {
                changes.append(BatchChange(from, value: try await from.sealedValue(), data: nil))
            }
            guard try await access().apply(changes, views: Array(views.values)) else { continue }
            await note(to, target.descriptor)
            if renaming == .moves { await noteRemoved(from, source.descriptor) }
            return
        }
        throw StorageError(
            .busy, "'\(from.address)' was changed again and again; nothing was changed", hint: "try again")
    }
}

extension AnyStorageKey {
    /// The key with another key's policy, if it is in no catalog and has none.
    fileprivate func sealed(as other: AnyStorageKey) -> AnyStorageKey {
        guard let undeclared, descriptor.security == .none, case .encrypted = other.descriptor.security else {
            return self
        }
        return AnyStorageKey(
            StorageKeyDescriptor(
                name: descriptor.name, domain: descriptor.domain, security: other.descriptor.security,
                serializer: descriptor.serializer, owner: descriptor.owner, description: descriptor.description),
            undeclared: undeclared)
    }
}

extension ValueAttributes {
    /// Those of a key's values for a value with others: the format, the versions and the expiry are the value's.
    fileprivate func describing(_ value: ValueAttributes?) -> ValueAttributes {
        guard let value else { return self }
        var attributes = value
        (attributes.size, attributes.modified) = (size, modified)
        attributes.owner = owner
        attributes.expires = value.expires ?? expires
        return attributes
    }
}
