internal import FoundationEssentials
internal import HostClients
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let demo = Command(
        name: "demo", operands: "[FILE]", count: 0...1,
        summary: "store a list of languages through one plugin, then another",
        details: """
            FILE is Debian's list of languages, iso_639-3.json of the package iso-codes. Works in a folder of its
            own, and removes it at the end.
            """
    ) { arguments, _ in
        let file = arguments.operands.first ?? "/usr/share/iso-codes/json/iso_639-3.json"
        var reader = try DocumentEntryReader(InputDocument(file), .elements(path: "639-3", field: "alpha_3"))
        var entries: [(name: String, value: ValueDocument.Entry)] = []
        while let entry = try reader.next() { entries.append(entry) }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        Interruption.begin()
        let router = StorageRouter(
            configuration: Session.ofNoApp(try HostConfiguration.isolated(in: folder.path)))
        let languages = StorageDomain.userDefaults(suite: "languages")
        for component in ["sqlite", "file", "memory"] {
            try await router.configure("domains.userDefaults", AnyCodable(.string(component)))
            let bar = ProgressLine("importing", total: entries.count)
            let values = try entries.map { entry in
                let stored = try entry.value.stored(for: key(languages, entry.name))
                return (key: stored.key, data: stored.data)
            }
            try await router.setData(values, progress: { bar.advance() })
            bar.finish()
            try Interruption.check("the demonstration has ended, and its folder is removed")
            let names = try await router.names(in: languages)
            let finnish = try await router.data(for: key(languages, "fin")) ?? Data()
            Output.line("\(names.count) languages are in store '\(component)'")
            Output.line("  fin: \(String(decoding: finnish, as: UTF8.self))")
            if let route = try await router.stores.route(of: "userDefaults") { Output.line("  why: \(route)") }
        }
        return .done
    }
}
