import Glibc
package import LocalDataAPI

/// Where configuration and data are, by the environment.
///
/// Follows the XDG Base Directory Specification 0.8: a variable that is empty or no absolute path counts as not set.
/// In a program that runs with more rights than its caller - set-user-ID or with file capabilities - the whole
/// environment is the caller's and is ignored; then the home directory comes from the user database only.
package struct ConfigurationLocations: Sendable {
    /// `$HOME`, or the effective user's home of the user database; nil if neither is an absolute path.
    package let home: String?
    /// `$XDG_CONFIG_HOME/localdata`, by default `~/.config/localdata`; nil without a home, as the three after it.
    package let configurationDirectory: String?
    /// `$XDG_DATA_HOME/localdata`, by default `~/.local/share/localdata`.
    package let dataDirectory: String?
    /// `$XDG_CACHE_HOME/localdata`, by default `~/.cache/localdata`.
    package let cacheDirectory: String?
    /// `$XDG_STATE_HOME/localdata`, by default `~/.local/state/localdata`.
    package let stateDirectory: String?
    /// The file of the machine.
    package let systemFile: String
    /// The file named by `LOCALDATA_CONFIG`, which must exist; nil if the variable is not set or empty.
    package private(set) var namedFile: String?

    /// The folders and files that `LOCALDATA_PLUGIN_PATH` names, divided by colons.
    package let pluginPath: [String]
    /// What cannot be used of the environment: a path that is not UTF-8. It names nothing then, and nothing else is
    /// taken in its place.
    package private(set) var problem: StorageError?

    /// The same places from any working directory.
    package var fromAnywhere: ConfigurationLocations {
        var places = self
        places.namedFile = namedFile.map { (try? HostFile.absolute($0)) ?? $0 }
        return places
    }

    /// The file of the user; nil without a home.
    package var userFile: String? { configurationDirectory.map { $0 + "/config.json" } }

    /// Works the places out; touches no file but the user database, and that only if `HOME` is not usable.
    ///
    /// - Parameters:
    ///   - environment: The environment variables.
    ///   - systemFile: The file of the machine, `/etc/localdata/config.json`.
    ///   - isPrivileged: Whether the program has more rights than its caller, and must not trust the environment.
    package init(
        environment: [String: String], systemFile: String = "/etc/localdata/config.json",
        isPrivileged: Bool = ProcessPrivilege.isElevated
    ) {
        let trusted = isPrivileged ? [:] : environment
        let home = Self.absolute(trusted["HOME"]) ?? Self.absolute(Self.homeOfUser())
        func directory(_ variable: String, _ fallback: String) -> String? {
            let base = Self.absolute(trusted[variable]) ?? home.map { Self.joined($0, fallback) }
            return base.map { Self.joined($0, "localdata") }
        }
        self.home = home
        self.configurationDirectory = directory("XDG_CONFIG_HOME", ".config")
        self.dataDirectory = directory("XDG_DATA_HOME", ".local/share")
        self.cacheDirectory = directory("XDG_CACHE_HOME", ".cache")
        self.stateDirectory = directory("XDG_STATE_HOME", ".local/state")
        self.systemFile = systemFile
        self.pluginPath = (trusted["LOCALDATA_PLUGIN_PATH"] ?? "").split(separator: ":").map(String.init)
        self.namedFile = trusted["LOCALDATA_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The places of this process' environment.
    package static var current: ConfigurationLocations {
        var (environment, problem): ([String: String], StorageError?) = ([:], nil)
        for name in [
            "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "LOCALDATA_CONFIG",
            "LOCALDATA_PLUGIN_PATH",
        ] where !ProcessPrivilege.isElevated {
            guard let value = getenv(name) else { continue }
            do throws(StorageError) { environment[name] = try PathText.string(value, from: name) } catch {
                problem = problem ?? error
            }
        }
        var locations = ConfigurationLocations(environment: environment)
        locations.problem = problem
        return locations
    }

    private static func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }

    private static func joined(_ base: String, _ name: String) -> String {
        base.hasSuffix("/") ? base + name : "\(base)/\(name)"
    }

    /// The home directory of the effective user, by getpwuid_r(3); nil if the user has no entry.
    private static func homeOfUser() -> String? {
        var size = 1024
        while size <= 1 << 20 {
            let found: (status: Int32, home: String?) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) {
                guard let buffer = $0.baseAddress else { return (EINVAL, nil) }
                var entry = passwd()
                var result: UnsafeMutablePointer<passwd>?
                let status = getpwuid_r(geteuid(), &entry, buffer, $0.count, &result)
                return (status, result?.pointee.pw_dir.flatMap { String(cString: $0) })
            }
            if found.status == ERANGE { size *= 4 } else if found.status != EINTR { return found.home }
        }
        return nil
    }
}

extension ConfigurationLocations {
    /// Reads and merges all layers: built-in defaults, system file, user file, the file named by `LOCALDATA_CONFIG`,
    /// the files of `--config` in their order, then every `-c` in its order.
    ///
    /// The shape is not checked here, so that a tool can still show and mend a configuration that breaks a rule: that
    /// is `ConfigurationSchema.validate`. A missing system or user file is no layer; a missing file that was named
    /// is an error. A link counts as the file it leads to; one that leads nowhere is an error, since its file may be on
    /// a disk that is not mounted.
    ///
    /// - Throws: what `ConfigurationDocument.init(path:)` and `ConfigurationLayer.init(assignment:)` throw, at the
    ///   first file or flag that cannot be used.
    package func load(
        flags: [ConfigurationFlag] = [], schema: ConfigurationSchema = .host
    ) throws(StorageError) -> LayeredConfiguration {
        if let problem { throw problem }
        var layers = [ConfigurationLayer(.default, source: "default", value: schema.defaults)]
        if let document = try Self.document(systemFile) { layers.append(ConfigurationLayer(.system, document)) }
        if let userFile, let document = try Self.document(userFile, isOwn: true) {
            layers.append(ConfigurationLayer(.user, document))
        }
        if let namedFile {
            layers.append(ConfigurationLayer(.environment, try Self.required(namedFile, by: "LOCALDATA_CONFIG")))
        }
        for case .file(let path) in flags {
            layers.append(ConfigurationLayer(.flag, try Self.required(path, by: "--config")))
        }
        for case .assignment(let text) in flags {
            layers.append(try ConfigurationLayer(assignment: text, schema: schema))
        }
        return LayeredConfiguration(layers: layers)
    }

    /// The document at a path; `nil` if it is missing.
    private static func document(_ path: String, isOwn: Bool = false) throws(StorageError) -> ConfigurationDocument? {
        if let document = try ConfigurationDocument(path: path, isOwn: isOwn) { return document }
        let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
        for link in [path, folder] {
            var (own, target) = (stat(), stat())
            guard lstat(link, &own) == 0, own.st_mode & S_IFMT == S_IFLNK, stat(link, &target) != 0 else { continue }
            throw StorageError(
                .invalidConfiguration, "configuration \(path): '\(link)' is a link that leads nowhere",
                hint: "restore its target, or remove the link")
        }
        return nil
    }

    private static func required(_ path: String, by who: String) throws(StorageError) -> ConfigurationDocument {
        guard !path.isEmpty else {
            throw StorageError(
                .invalidConfiguration, "\(who) names no configuration: it is empty", hint: "name a file")
        }
        if let document = try ConfigurationDocument(path: path) { return document }
        throw StorageError(
            .invalidConfiguration, "configuration \(path), named by \(who): expected a file, found none",
            hint: "make one that starts empty: \(emptying(path))")
    }

    private static func emptying(_ path: String) -> String {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        let making = folder.isEmpty || HostFile.exists(folder) ? "" : "mkdir -p \(PathText.shellQuoted(folder)) && "
        return making + "echo '{}' > \(PathText.shellQuoted(path))"
    }
}
