import LocalDataAPI

extension ELFImage {
    /// What the name of a plugin's entry function begins with; the ABI's major follows in decimal.
    package static let entryPrefix = "localdata_plugin_v"

    /// Requires the entry function of one ABI major, so that nothing of an incompatible library, or of one that is no
    /// plugin at all, is ever run.
    ///
    /// - Throws: `StorageError.pluginRefused`; the message names the majors that the plugin does have.
    package func requireEntry(major: Int) throws {
        let expected = "\(Self.entryPrefix)\(major)"
        if let kind = symbols.kind(of: expected) {
            guard kind.isCallable else {
                throw StorageError.refusing(
                    path, "exports \(expected) as data, expected a function", hint: "export the entry as a C function")
            }
            return
        }
        let majors = definedSymbols(prefix: Self.entryPrefix)
            .compactMap { Self.major(String($0.dropFirst(Self.entryPrefix.count))) }
            .sorted()
        guard let newest = majors.last else {
            throw StorageError.refusing(
                path, "is a shared library but no LocalData plugin: it does not export \(expected)",
                hint: "remove it from the plugin folder, or export \(expected) from it")
        }
        let spoken = majors.map(String.init).joined(separator: " and ")
        throw StorageError.refusing(
            path, "speaks plugin ABI \(spoken), expected ABI \(major), which is what this host speaks",
            hint: newest > major
                ? "update the host, or install the plugin's build for ABI \(major)"
                : "install a build of the plugin for ABI \(major)")
    }

    /// The number, if the text is what `\(major)` would print.
    private static func major(_ text: String) -> Int? {
        guard let number = Int(text), String(number) == text, number >= 0 else { return nil }
        return number
    }
}
