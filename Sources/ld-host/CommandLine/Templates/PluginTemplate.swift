internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost

/// The files of a new plugin's package.
struct PluginTemplate: Sendable {
    /// By path inside the package's folder.
    let files: [String: String]

    /// Makes the folder with all the files, or nothing.
    ///
    /// The folder is made under another name and moved when it is complete, and the move succeeds only if there is
    /// nothing, or an empty folder, in its place (rename(2)).
    /// - Throws: `fileError` naming the folder.
    func write(to folder: String) throws(StorageError) {
        guard isFree(folder) else {
            throw StorageError(
                .fileError, "'\(folder)' is there already and is not an empty folder; nothing was written",
                hint: "choose another name, or remove '\(folder)'")
        }
        // Foundation makes nothing below a path that is not UTF-8.
        _ = try HostFile.absolute(folder)
        var template = Array(".\(folder).XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Self.failure("no folder can be made here") }
        let draft = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        do {
            try fill(draft)
            guard rename(draft, folder) == 0 else { throw Self.failure("'\(folder)' cannot be made") }
        } catch {
            try? FileManager.default.removeItem(atPath: draft)
            throw (error as? StorageError) ?? StorageError(.fileError, "'\(folder)' cannot be written: \(error)")
        }
    }

    private func fill(_ draft: String) throws {
        // mkdtemp(3) makes a folder for its owner alone; a package is as open as the user's other new folders.
        let mask = umask(0)
        umask(mask)
        guard chmod(draft, 0o777 & ~mask) == 0 else { throw Self.failure("'\(draft)' cannot be opened to others") }
        for (path, text) in files {
            let file = "\(draft)/\(path)"
            let parent = String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)])
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(filePath: file), options: .withoutOverwriting)
        }
    }

    private func isFree(_ folder: String) -> Bool {
        var status = stat()
        guard lstat(folder, &status) == 0 else { return true }
        guard status.st_mode & S_IFMT == S_IFDIR else { return false }
        return (try? FileManager.default.contentsOfDirectory(atPath: folder))?.isEmpty ?? false
    }

    private static func failure(_ what: String) -> StorageError {
        let reason = String(cString: strerror(errno))
        return StorageError(.fileError, "\(what): \(reason)", hint: "run it in a folder that you can write to")
    }
}

extension PluginTemplate {
    /// A copy of the example of the kind in C, and the header, which is all that it needs.
    static func c(_ kind: ComponentKind, _ name: PluginName) -> PluginTemplate {
        var files = copy(of: kind, in: "C", name) {
            $0.replacing("../../Sources/LocalDataAPI/CLocalData/include", with: ".")
        }
        files["localdata/plugin.h"] = EmbeddedText.files["Sources/LocalDataAPI/CLocalData/include/localdata/plugin.h"]
        return PluginTemplate(files: files)
    }

    /// A copy of the example of the kind in Swift, which has LocalData's package from the source.
    static func swift(_ kind: ComponentKind, _ name: PluginName, localData: PackageSource) -> PluginTemplate {
        let here = PackageSource.folder("../..")
        return PluginTemplate(
            files: copy(of: kind, in: "Swift", name) { text in
                text.replacing(here.dependency, with: localData.dependency)
                    .replacing("package: \"\(here.identity)\"", with: "package: \"\(localData.identity)\"")
                    .replacing(here.publishing, with: localData.publishing)
            })
    }

    /// The example's files under the new plugin's name, in paths and texts.
    private static func copy(
        of kind: ComponentKind, in language: String, _ name: PluginName, _ change: (String) -> String
    ) -> [String: String] {
        let part =
            switch kind {
            case .storage: "Backend"
            case .crypto: "Crypto"
            case .migration: "Migration"
            case .sync: "Sync"
            }
        let example = PluginName(ofExample: language + part)
        let folder = "Examples/\(example.text)/"
        let files = EmbeddedText.files.filter { $0.key.hasPrefix(folder) }.map { path, text in
            (String(path.dropFirst(folder.count)).renamed(example, name), change(text.renamed(example, name)))
        }
        return Dictionary(uniqueKeysWithValues: files)
    }
}

extension String {
    /// With each form of a name replaced, in one pass: the new name may have the old one in it.
    fileprivate func renamed(_ old: PluginName, _ new: PluginName) -> String {
        let forms = [(old.text, new.text), (old.component, new.component), (old.lowercase, new.lowercase)]
        var (result, rest) = ("", self[...])
        while true {
            let found = forms.compactMap { form in rest.firstRange(of: form.0).map { (range: $0, text: form.1) } }
            guard let next = found.min(by: { $0.range.lowerBound < $1.range.lowerBound }) else { return result + rest }
            result += rest[..<next.range.lowerBound] + next.text
            rest = rest[next.range.upperBound...]
        }
    }
}
