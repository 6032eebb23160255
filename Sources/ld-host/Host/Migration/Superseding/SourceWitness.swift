internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostStores
internal import LocalDataAPI

/// The hash of what a sealed source said when it was superseded. It distinguishes the value from a later one after it
/// was re-encrypted, when its stored bytes are others.
///
/// A hash of opened bytes says something of a secret, so it is a value by itself: it lies in the destination's store
/// and is sealed as the destination's values are, and re-encrypted with them.
enum SourceWitness {
    /// A new one; `nil` if the source is not sealed, or is not less protected than the destination, or does not open.
    static func made(
        of source: ResolvedKey, for destination: ResolvedKey
    ) async -> (name: String, change: BatchChange)? {
        guard !source.layers.isEmpty, !destination.layers.isEmpty,
            let digest = try? await digest(of: source), let data = encoded(digest)
        else { return nil }
        let name = LedgerPlace.witnessName()
        guard let place = try? LedgerPlace.witness(name, of: destination, in: destination.open),
            let value = try? await place.sealedValue()
        else { return nil }
        return (name, BatchChange(place, value: value, data: data))
    }

    /// Whether a source has the value that the one of this name is about.
    ///
    /// - Parameter open: The store that has the ledger.
    static func knows(
        _ source: ResolvedKey, _ name: String?, of destination: ResolvedKey, in open: OpenStore
    ) async -> Bool {
        guard let name, let place = try? LedgerPlace.witness(name, of: destination, in: open),
            let stored = try? await place.stored(), let said = try? await place.opened(stored),
            let digest = try? await digest(of: source)
        else { return false }
        return encoded(digest) == said
    }

    /// The same in the middle of a migration of many, for bytes that were read.
    static func knows(_ source: ResolvedKey, _ stored: Data, _ place: ResolvedKey) -> Bool {
        guard let kept = try? place.readStored(), let said = try? place.opening(kept),
            let data = try? source.opening(stored)
        else { return false }
        return encoded(StableHash.of(data)) == said
    }

    private static func digest(of source: ResolvedKey) async throws(StorageError) -> UInt64? {
        let value = try await source.sealedValue()
        return try await source.open.wait("reading '\(source.address)'") { () throws(StorageError) in
            try value.digest()
        }
    }

    private static func encoded(_ digest: UInt64?) -> Data? { digest.map { bytes(of: $0) } }

    /// A hash as it is kept.
    static func bytes(of digest: UInt64) -> Data { withUnsafeBytes(of: digest.littleEndian) { Data($0) } }
}
