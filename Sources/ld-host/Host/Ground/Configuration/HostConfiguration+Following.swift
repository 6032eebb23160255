package import LocalDataAPI

extension HostConfiguration {
    /// The flags that it was read from files with; `nil` if it was not.
    package var sourceFlags: Flags? { flags }

    /// Whether it was read from files, which can be read again.
    package var isOfFiles: Bool { flags != nil }

    /// The same configuration with what the files say now: flags and changes in code stay above them.
    ///
    /// - Returns: `nil` if it was not read from files.
    /// - Throws: `invalidConfiguration` if they cannot be read, or the outcome is not valid.
    package func readAgain() throws(StorageError) -> HostConfiguration? {
        guard let flags else { return nil }
        var next = try Self.loadUnchecked(flags: flags, locations: places)
        (next.looksForPlugins, next.sealsMemory) = (looksForPlugins, sealsMemory)
        (next.endsAfterCommand, next.watchesFiles, next.ownAppID) = (endsAfterCommand, watchesFiles, ownAppID)
        let code = layered.layers.filter { $0.name == .code }
        next.layered = LayeredConfiguration(layers: next.layered.layers + code)
        next.served = served ?? fileRoutes
        try next.check()
        return next
    }

    /// The files that it was read from, and those that would count if they were there.
    package var watchedFiles: [String] { flags.map { Self.files(flags: $0, locations: places).map(\.path) } ?? [] }

    /// Whether two configurations say the same, and each thing in the same place.
    package func isSame(as other: HostConfiguration) -> Bool {
        effective == other.effective && layered.origins == other.layered.origins && fileRoutes == other.fileRoutes
    }

    /// Why a domain cannot be used any more: this program says in code, or by a flag, which store serves it, that store
    /// did serve it, and by the files another one does now. Its values may have moved there.
    func refusal(ofDomain domain: String, servedBy store: String) -> StorageError? {
        guard let served, served[domain] == store, let now = fileRoutes[domain], now != store,
            let origin = layered.value(at: ["domains", domain])?.origin,
            let other = ofFiles.value(at: ["domains", domain])?.origin
        else { return nil }
        return StorageError(
            .invalidConfiguration,
            "'\(domain)' is served by '\(now)' since \(other) was changed, and this program uses '\(store)' for it, "
                + "by \(origin)",
            hint: "start the program again without that setting, or with '\(now)' in it")
    }

    /// What the files and the defaults say.
    private var ofFiles: LayeredConfiguration {
        LayeredConfiguration(
            layers: layered.layers.filter { $0.name != .code && ($0.name != .flag || $0.document != nil) })
    }

    /// The store of each domain by the files alone.
    private var fileRoutes: [String: String] {
        let files = ofFiles
        var routes: [String: String] = [:]
        for domain in (try? files.keys(at: ["domains"])) ?? [] {
            routes[domain] = try? files.string(at: ["domains", domain])
        }
        return routes
    }
}
