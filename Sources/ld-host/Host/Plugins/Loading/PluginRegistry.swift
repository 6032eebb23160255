internal import FoundationEssentials
internal import Glibc
package import HostGround
internal import JSON
package import LocalDataAPI

/// Knows which plugin offers which component, without loading any: child processes inspect plugins once, and a plugin
/// is loaded at its first use.
package final class PluginRegistry: Sendable {
    /// The files that a survey inspects again despite an earlier result.
    package enum Rescan: Sendable {
        case none, refused, all
    }

    private let searchPath: PluginSearchPath
    private let inspector: PluginInspector
    private let index: PluginIndex
    private let linked: [PluginImage]

    /// - Parameters:
    ///   - searchPath: The plugin folders.
    ///   - inspector: Inspects a plugin.
    ///   - cacheFolder: The folder for cached results.
    ///   - linked: Plugins that this program has registered, besides those that are linked into it anyway.
    package init(
        searchPath: PluginSearchPath, inspector: PluginInspector, cacheFolder: String, linked: [PluginImage] = []
    ) {
        self.searchPath = searchPath
        self.inspector = inspector
        index = PluginIndex(folder: cacheFolder)
        self.linked = linked
    }

    /// Every plugin on the search path with its description or the reason for its refusal. Files in folders that are
    /// not LocalData plugins are left out. May wait.
    ///
    /// - Parameter rescan: Which of the known files to inspect again.
    package func survey(rescanning rescan: Rescan = .none) -> [PluginRecord] {
        let candidates = searchPath.candidates()
        var passed = FileTrust.PassedFolders()
        let looks = candidates.map { look(at: $0, rescan, &passed) }
        let unknown = looks.compactMap { if case .unknown(let file) = $0 { file } else { nil } }
        var findings = zip(unknown, inspector.inspect(unknown)).makeIterator()
        let records = zip(candidates, looks).compactMap { candidate, look -> PluginRecord? in
            switch look {
            case .none: nil
            case .known(let file, let result): PluginRecord(candidate: candidate, location: file, result: result)
            case .unknown: findings.next().map { remember($0, $1, as: candidate) }
            }
        }
        index.save(keeping: Set(candidates.map(\.path)))
        return records
    }

    /// The facts about a file before its code runs.
    private enum Look {
        /// It is not a LocalData plugin.
        case none
        case known(TrustedPath?, Result<PluginDescription, StorageError>)
        case unknown(TrustedPath)
    }

    private func look(
        at candidate: PluginSearchPath.Candidate, _ rescan: Rescan, _ passed: inout FileTrust.PassedFolders
    ) -> Look {
        do {
            let file = try FileTrust.check(candidate.path, passing: &passed)
            if rescan != .all, let known = index.result(for: file, timeout: inspector.timeout) {
                if case .success = known { return .known(file, known) }
                if rescan == .none { return .known(file, known) }
            }
            let symbols = try ELFImage(file).definedSymbols(prefix: "localdata_plugin_v")
            return symbols.isEmpty && !candidate.isNamed ? .none : .unknown(file)
        } catch {
            return .known(nil, .failure(StorageError(wrapping: error)))
        }
    }

    private func remember(
        _ file: TrustedPath, _ finding: PluginInspector.Finding, as candidate: PluginSearchPath.Candidate
    ) -> PluginRecord {
        index.remember(finding.result, for: file, cutShortAfter: finding.isCutShort ? inspector.timeout : nil)
        return PluginRecord(candidate: candidate, location: file, result: finding.result)
    }

    /// The plugins of this program, and those of a survey.
    ///
    /// - Parameter rescan: As for ``survey(rescanning:)``.
    package func records(rescanning rescan: Rescan = .none) -> [PluginRecord] { inProgram + survey(rescanning: rescan) }

    /// The plugins of this program, for which no file has to be looked at.
    private var inProgram: [PluginRecord] {
        linked.map { PluginRecord(linked: $0, isRegistered: true) }
            + PluginImage.ofProgram.map { PluginRecord(linked: $0, isRegistered: false) }
    }

    /// The plugin that serves a component, loaded. May wait.
    ///
    /// - Throws: `componentNotFound` with the available components; `componentAmbiguous` if more than one plugin offers
    ///   it; `pluginRefused` if the loaded plugin differs from its inspection.
    package func plugin(offering id: String, kind: ComponentKind) throws(StorageError) -> PluginImage {
        if !searchPath.places.contains(where: \.isConfigured) {
            // No file can replace what is linked in.
            let serving = inProgram.choice(of: id, kind).serving
            if !serving.isEmpty { return try loaded(serving, id, kind) }
        }
        var records = records()
        if records.choice(of: id, kind).serving.isEmpty, records.contains(where: { $0.refusal != nil }) {
            // The cause of a refusal, e.g. a missing library, may have been fixed meanwhile.
            records = self.records(rescanning: .refused)
        }
        let serving = records.choice(of: id, kind).serving
        guard !serving.isEmpty else { throw notFound(id, kind, among: records) }
        return try loaded(serving, id, kind)
    }

    private func loaded(
        _ serving: [PluginRecord], _ id: String, _ kind: ComponentKind
    ) throws(StorageError) -> PluginImage {
        guard serving.count == 1 else {
            throw StorageError(
                .componentAmbiguous, "component '\(id)' is offered by \(list(serving.map(\.candidate.path)))",
                hint: "remove all but one of them from the search path")
        }
        if let image = serving[0].image { return image }
        guard let file = serving[0].location else { throw notFound(id, kind, among: serving) }
        let image = try PluginImage.load(file)
        guard image.offers(id, kind) else {
            throw StorageError(
                .pluginRefused, "plugin '\(image.path)' no longer offers component '\(id)'",
                hint: "run: ld-host plugins list")
        }
        return image
    }

    /// Why a plugin serves a component, if one of several is linked into this program; `""` if there was no choice. May
    /// wait.
    package func reason(for path: String, offering id: String, _ kind: ComponentKind) -> String {
        let choice = records().choice(of: id, kind)
        return choice.serving.contains { $0.candidate.path == path } ? choice.reason : ""
    }

    /// Why a file was refused that the configuration or the environment names, if a plugin of this program serves. Then
    /// the file may have been meant to serve instead. May wait.
    package func refusedFile(insteadOf image: PluginImage) -> StorageError? {
        guard searchPath.places.contains(where: \.isConfigured), inProgram.contains(where: { $0.image === image })
        else {
            return nil
        }
        return survey().first { $0.candidate.isNamed && $0.refusal != nil }?.refusal
    }

    /// Whether a plugin offers a component, or would if it were not refused. May wait.
    ///
    /// - Parameter file: The name of the file that has the component in every installation. If it is there, no plugin
    ///   is inspected.
    func mayOffer(_ id: String, _ kind: ComponentKind, usuallyIn file: String) -> Bool {
        if searchPath.has(file) { return true }
        let records = records()
        return records.contains { $0.refusal != nil } || !records.choice(of: id, kind).serving.isEmpty
    }

    private func notFound(_ id: String, _ kind: ComponentKind, among records: [PluginRecord]) -> StorageError {
        let known = components(kind, among: records)
        let refusals = records.refusals
        var message = "no plugin offers the \(kind) component '\(id)'"
        message += known.isEmpty ? "; there are no \(kind) components" : "; there are \(list(known))"
        if !refusals.isEmpty { message += "; refused: \(refusals.map(\.message).joined(separator: "; "))" }
        let near = EditDistance.nearest(to: id, in: known, within: 2)
        // Fixing a refused plugin may be all that is needed.
        let mending = refusals.first { !$0.hint.isEmpty }.map { "\($0.hint); " } ?? ""
        let places = searchPath.places.map(\.path)
        let lacks = refusals.isEmpty && Self.isApp && Self.separate.contains(id)
        let installing = Self.packaged.contains(id) ? "on Debian, install it with: apt install localdata-\(id); " : ""
        let other =
            kind == .crypto ? known.first.map { "or use another: ld-host config set encryption.provider \($0); " } : nil
        return StorageError(
            .componentNotFound, message,
            hint: near.map { "did you mean '\($0)'?" } ?? (lacks ? Self.bundling : nil)
                ?? "\(mending)\(installing)\(other ?? "")the search path is \(places.isEmpty ? "empty" : list(places)); add one with "
                + "LOCALDATA_PLUGIN_PATH or plugins.path")
    }

    /// The components of this package that no program links, most of them because they need a library of the system.
    static let separate: Set = [
        "sqlite", "openssl", "sodium", "secret-service", "postgresql", "standard", "folder", "nats",
    ]

    /// Those that have a Debian package of their own, which is named after them.
    private static let packaged: Set = ["openssl", "sodium", "secret-service", "postgresql", "nats"]

    /// Whether this is an app with the product `LocalData`: `ld-host` links the same stores, and is installed.
    private static var isApp: Bool { !PluginImage.ofProgram.isEmpty && !PluginInspector.isHost }

    private static let bundling =
        "run 'swift package localdata plugins' to put the plugins beside the program, or make a folder to deploy with "
        + "'swift package localdata bundle --to DIR'"

    /// The ids of the components of a kind.
    func components(_ kind: ComponentKind, among records: [PluginRecord]) -> [String] {
        records.choices.filter { $0.kind == kind.rawValue }.map(\.id)
    }

    private func list(_ names: [String]) -> String { names.map { "'\($0)'" }.joined(separator: ", ") }
}

extension FileVersion {
    var numbers: [Int64] {
        [Int64(bitPattern: device), Int64(bitPattern: inode), size, modified, changed]
    }
}
