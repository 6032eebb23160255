internal import CLinux
internal import Glibc

/// The files and folders that an environment means.
package struct ConfigurationLocations: Sendable {
    /// The file of the system.
    package let system: String
    /// The file of the user.
    package let user: String
    /// The file that `LOCALDATA_CONFIG` names.
    package let environment: String?
    /// What `LOCALDATA_PLUGIN_PATH` names.
    package let pluginPath: [String]
    package let folders: HostSettings.Folders

    /// The locations by the XDG Base Directory Specification: a relative value in a variable is ignored, as it demands.
    ///
    /// - Parameters:
    ///   - environment: The variables; a program with raised privileges (`AT_SECURE`) should give none.
    ///   - system: The system's file.
    package init(environment: [String: String], system: String = "/etc/localdata/config.json") {
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? Self.homeOfUser
        func folder(_ variable: String, _ standard: String) -> String {
            let base = environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "\(home)/\(standard)"
            return "\(base)/localdata"
        }
        self.system = system
        folders = HostSettings.Folders(
            data: folder("XDG_DATA_HOME", ".local/share"), cache: folder("XDG_CACHE_HOME", ".cache"),
            state: folder("XDG_STATE_HOME", ".local/state"), config: folder("XDG_CONFIG_HOME", ".config"))
        user = "\(folders.config)/config.json"
        self.environment = environment["LOCALDATA_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        pluginPath = (environment["LOCALDATA_PLUGIN_PATH"] ?? "").split(separator: ":").map(String.init)
    }

    /// The locations for this process.
    package static var current: ConfigurationLocations { ConfigurationLocations(environment: variables) }

    private static var variables: [String: String] {
        guard ld_linux_is_secure() == 0 else { return [:] }
        var variables: [String: String] = [:]
        for name in [
            "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "LOCALDATA_CONFIG",
            "LOCALDATA_PLUGIN_PATH",
        ] {
            if let value = getenv(name) { variables[name] = String(cString: value) }
        }
        return variables
    }

    private static var homeOfUser: String {
        var entry = passwd()
        var result: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getpwuid_r(getuid(), &entry, &buffer, buffer.count, &result) == 0, result != nil, let home = entry.pw_dir
        else { return "/" }
        return String(cString: home)
    }
}
