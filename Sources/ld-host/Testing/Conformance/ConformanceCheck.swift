package import LocalDataAPI

/// One promise of a component: an id, the sentence, when it applies, and how it is tested.
package struct ConformanceCheck: Sendable {
    /// Kebab words that start with the topic: `value.empty`. Checks of crypto providers start with `crypto.`, those of
    /// sync transports with `sync.`, those of migration packs with `pack.`.
    package let id: String
    /// The promise, lower case, no final period.
    package let sentence: String
    /// The kind of component that makes the promise.
    package let kind: ComponentKind
    let requirements: [ConformanceRequirement]
    /// Opens a component below the check's own folder and tests it.
    let attempt: @Sendable (ConformanceSubject, _ folder: String) throws -> Void

    /// A promise of a store.
    init(
        _ id: String, _ sentence: String, if requirements: ConformanceRequirement...,
        body: @escaping @Sendable (StoreUnderTest) throws -> Void
    ) {
        self.id = id
        self.sentence = sentence
        kind = .storage
        self.requirements = requirements
        attempt = { subject, folder in
            let store = try StoreUnderTest(subject, check: id, folder: folder)
            defer { store.end() }
            try body(store)
        }
    }

    /// A promise of a crypto provider.
    init(
        crypto id: String, _ sentence: String, if requirements: ConformanceRequirement...,
        body: @escaping @Sendable (ProviderUnderTest) throws -> Void
    ) {
        self.id = "crypto.\(id)"
        self.sentence = sentence
        kind = .crypto
        self.requirements = requirements
        attempt = { subject, folder in
            let provider = try ProviderUnderTest(subject, folder: folder)
            defer { provider.end() }
            try body(provider)
        }
    }

    /// A promise of a sync transport.
    init(
        sync id: String, _ sentence: String, body: @escaping @Sendable (TransportUnderTest) throws -> Void
    ) {
        self.id = "sync.\(id)"
        self.sentence = sentence
        kind = .sync
        requirements = []
        attempt = { subject, folder in
            let transport = try TransportUnderTest(subject, folder: folder)
            defer { transport.end() }
            try body(transport)
        }
    }

    /// A promise of a migration pack.
    init(
        pack id: String, _ sentence: String, if requirements: ConformanceRequirement...,
        body: @escaping @Sendable (PackUnderTest) throws -> Void
    ) {
        self.id = "pack.\(id)"
        self.sentence = sentence
        kind = .migration
        self.requirements = requirements
        attempt = { subject, folder in
            let pack = try PackUnderTest(subject, folder: folder)
            defer { pack.end() }
            try body(pack)
        }
    }

    /// Every check, in the order of the report: the basic ones first, so that the first failure says the most.
    package static let all = stores + providers + transports + packs

    private static let stores =
        lifecycle + values + names + presence + boundary + threads + enumeration + attributes + streaming + batches
        + folders + bulk + conditional + expiry + locks + watches + transactions + checks + verification + wiping
        + sharing

    private static let providers =
        cryptoLifecycle + cryptoVectors + cryptoCiphers + cryptoRefusals + cryptoBoundary + cryptoDerivations
        + cryptoRandom + cryptoAgreements + cryptoSignatures + cryptoSecrets

    private static let transports =
        syncLifecycle + syncRecords + syncOrder + syncPositions + syncRemovals + syncDevices + syncNotices
        + syncThreads

    private static let packs = packList + packRuns + packBoundary

    /// The checks for components of a kind.
    package static func all(for kind: ComponentKind) -> [ConformanceCheck] { all.filter { $0.kind == kind } }

    /// The checks with these ids for components of some kinds, in the order of the report; `nil` for all of them.
    ///
    /// - Throws: `invalidOptions` for an unknown id.
    package static func all(
        for kinds: Set<ComponentKind>, only: Set<String>?
    ) throws(StorageError) -> [ConformanceCheck] {
        let all = all.filter { kinds.contains($0.kind) }
        guard let only else { return all }
        let unknown = only.subtracting(all.map(\.id)).sorted()
        guard unknown.isEmpty else {
            let named = kinds.map(\.description).sorted().joined(separator: " and ")
            throw StorageError(
                .invalidOptions, "unknown check '\(unknown.joined(separator: "', '"))' for \(named) components",
                hint: EditDistance.nearest(to: unknown[0], in: all.map(\.id), within: 3).map { "did you mean '\($0)'?" }
                    ?? "list them all with --verbose instead of --only")
        }
        return all.filter { only.contains($0.id) }
    }
}
