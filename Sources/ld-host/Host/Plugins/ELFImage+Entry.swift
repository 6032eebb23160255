import LocalDataAPI

extension ELFImage {
    /// The prefix of a plugin's entry function; the ABI's major version follows in decimal.
    package static let entryPrefix = "localdata_plugin_v"

    /// Requires the entry function of an ABI's major version, so that no code of an incompatible library, or of one
    /// that is not a plugin, ever runs.
    ///
    /// - Throws: `StorageError.pluginRefused`; the message lists the major versions that the plugin has.
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
                path, "is a shared library but not a LocalData plugin: it does not export \(expected)",
                hint: "remove it from the plugin folder, or export \(expected) from it")
        }
        let spoken = majors.map(String.init).joined(separator: " and ")
        throw StorageError.refusing(
            path, "speaks plugin ABI \(spoken), expected ABI \(major), the one that this host speaks",
            hint: newest > major
                ? "update the host, or install the plugin's build for ABI \(major)"
                : "install a build of the plugin for ABI \(major)")
    }

    /// The number, if the text is exactly what `\(major)` would print.
    private static func major(_ text: String) -> Int? {
        guard let number = Int(text), String(number) == text, number >= 0 else { return nil }
        return number
    }
}
