internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let pluginsNew = Command(
        name: "plugins new", operands: "NAME", count: 1...1,
        summary: "create the package of a new plugin in the folder NAME",
        details: """
            NAME is in upper camel case, e.g. MyStore; it becomes the library libMyStore.so with the component
            my-store. The package builds as it is, has a test, and keeps the promises of its kind; its README.md says
            how to continue. A package in Swift depends on LocalData's source; one in C has the header and depends on
            nothing. A crypto plugin computes with libsodium.
            """,
        options: [
            Option(name: "--kind", value: "KIND", help: "storage (the default), crypto, sync or migration"),
            Option(name: "--language", value: "LANGUAGE", help: "swift (the default) or c"),
            Option(
                name: "--localdata", value: "SOURCE",
                help: "the folder of LocalData's source, or the URL of its repository, if this ld-host is not in it"),
        ]
    ) { arguments, _ in
        let name = try PluginName(arguments.operands[0])
        let kind = try kind(arguments.value("--kind") ?? "storage")
        let template: PluginTemplate
        let next: String
        switch arguments.value("--language") ?? "swift" {
        case "swift":
            let localData = try arguments.value("--localdata").map(PackageSource.init) ?? .running()
            template = .swift(kind, name, localData: localData)
            next = "swift build && swift test"
        case "c":
            guard arguments.value("--localdata") == nil else {
                throw UsageError("a plugin in C needs no --localdata: the header is part of its package")
            }
            template = .c(kind, name)
            next = "make && make test"
        case let other:
            throw UsageError(
                "there is no template in the language '\(other)'",
                hint: "use --language swift or --language c; from C++, Rust or Zig start with c: the header is plain C")
        }
        try template.write(to: name.text)
        for path in template.files.keys.sorted() { Output.line("\(name.text)/\(path)") }
        Output.remark(
            "ld-host: folder \(name.text) has component '\(name.component)'; its README.md says how to continue")
        Output.remark("ld-host: next: cd \(name.text) && \(next)")
        return .done
    }

    private static func kind(_ kind: String) throws -> ComponentKind {
        guard let known = ComponentKind.allCases.first(where: { $0.description == kind }) else {
            throw UsageError(
                "there is no kind of plugin '\(kind)'", hint: "use one of storage, crypto, sync or migration")
        }
        return known
    }
}
