internal import HostGround
internal import HostStores
package import LocalDataAPI

// What nothing is restored for.
extension RestoreComparison {
    /// - Throws: `unsupported` for a store whose values are gone when this program ends.
    func requireKept(_ domain: String, in open: OpenStore) throws(StorageError) {
        guard open.isGoneWithProcess else { return }
        throw StorageError(
            .unsupported,
            "store '\(open.name)', which serves '\(domain)', keeps values only while a program runs, so those of the "
                + "backup would be lost; nothing was restored",
            hint: "choose another store: \(snapshot.routeCommand(domain)); or name the other domains with "
                + "--domain")
    }

    /// - Throws: `invalidConfiguration` or `securityApplicationFailed` if there is no keychain that can keep keys.
    func requireKeychain() throws(StorageError) {
        guard let list = ringsOfKeychain else {
            throw StorageError(
                .invalidConfiguration,
                "the backup has values that key rings seal, and no store serves the domain 'keychain'",
                hint: "choose one: ld-host config set domains.keychain sealed-files")
        }
        guard list.open.isKeychain else {
            throw StorageError(
                .securityApplicationFailed,
                "store '\(list.open.name)', which serves 'keychain', would keep key rings plain; nothing was restored",
                hint: "seal it: ld-host config set stores.NAME.sealing keyFile")
        }
    }

    /// - Throws: `securityApplicationFailed` if the file has values for folders that nobody has named.
    package func requireNamedFolders() throws(StorageError) {
        guard !unnamed.isEmpty else { return }
        throw StorageError.unnamedFolders(unnamed, of: "the backup '\(file.path)'", "nothing was restored")
    }

    /// Throws `busy` if the file has other values than the stores, which are not to be replaced.
    package func requireNoConflict() throws(StorageError) {
        let count = report.domains.reduce(0) { $0 + $1.different }
        guard count > 0, !terms.overwrites else { return }
        throw StorageError(
            .busy,
            "the stores have different values at \(count.counted("address")) of the backup, e.g. "
                + "\(report.conflicts.prefix(3).map { "'\($0)'" }.joined(separator: ", ")); nothing was restored",
            hint: "see them with --plan; --overwrite replaces them"
                + (report.rings.isEmpty || terms.takesKeys
                    ? "" : "; --keys takes the backup's keys, with which values open that are sealed under them"))
    }
}
