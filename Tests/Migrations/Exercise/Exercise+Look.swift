internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension Exercise {
    /// The state that a process finds which has just started.
    func look() async throws -> ExerciseLook { try await look(with: router()) }

    func look(with router: StorageRouter) async throws -> ExerciseLook {
        var values: [String: Data] = [:]
        // Reading an absent value would migrate older data.
        for key in subject.keys where try await router.exists(key) {
            values[key.exerciseAddress] = try await router.data(for: key)?.exerciseShown
        }
        var records: [MigrationRecord] = []
        if let bulk = subject.bulk {
            records += try await router.migrations.record(of: bulk.id).map { [$0] } ?? []
        } else {
            for destination in subject.others + [subject.destination] {
                records += try await destination.history(router)
            }
        }
        let rows = records.map {
            ExerciseLook.Row(
                id: $0.id, revision: $0.revision, state: $0.state, sources: $0.sources, destinations: $0.destinations)
        }
        // The number of chunks in which values have moved does not matter.
        let kept = try Self.kept().filter { subject.bulk == nil || $0.contains("localdata.batch") }
        return ExerciseLook(values: values, rows: rows, kept: kept, debris: Self.debris())
    }

    /// The names in the namespaces without any app's values.
    private static func kept() throws -> [String] {
        let locations = ConfigurationLocations.current
        guard let data = locations.dataDirectory else { return [] }
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = program[..<(program.lastIndex(of: "/") ?? program.startIndex)]
        var names: [String] = []
        let group = "groups/\(ExercisePlace.group)/userDefaults"
        for (library, component, option, file, directory) in [
            ("libFileStore.so", "file", "root", "files", nil), ("libFileStore.so", "file", "root", "keychain", nil),
            ("libSQLiteStore.so", "sqlite", "path", "values.sqlite", nil),
            ("libSQLiteStore.so", "sqlite", "path", "values.sqlite", group),
        ] {
            let path = "\(data)/\(file)"
            guard FileManager.default.fileExists(atPath: path) else { continue }
            let store = try PluginImage.load("\(folder)/\(library)")
                .openStore(component, options: [option: .string(path)], folder: "/nonexistent", log: SilentLog())
            defer { store.close() }
            for domain in ["localdata.migrations", "localdata.batch"] {
                let place = StorageNamespace(domain: domain, directory: directory.map { "\(data)/\($0)" })
                try store.forEachName(in: place) { name in
                    // The rest of the name is random.
                    let shown = ["image", "written"].first { name.hasPrefix("\($0) ") } ?? name
                    names.append("\(directory ?? file) \(domain) \(shown)")
                    return true
                }
            }
        }
        return names.sorted()
    }

    private static func debris() -> [String] {
        let locations = ConfigurationLocations.current
        var found: [String] = []
        for folder in [locations.dataDirectory, locations.stateDirectory, locations.configurationDirectory] {
            guard let folder, let paths = try? FileManager.default.subpathsOfDirectory(atPath: folder) else { continue }
            found += paths.filter {
                $0.contains("/.tmp/") || $0.hasSuffix(".intent")
                    || $0.contains("/.batch/") && !$0.hasSuffix("/.batch/lock") && !$0.hasSuffix("/.batch/.tmp")
            }
        }
        return found.sorted()
    }
}
