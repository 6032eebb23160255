import Glibc
internal import HostGround
package import LocalDataAPI

/// A plugin file that passed every check that is possible without running its code.
package struct PluginFile: Sendable {
    /// The path to pass to `dlopen`.
    package let location: TrustedPath
    /// The file's parsed image.
    package let image: ELFImage

    /// Checks that only trusted users can change the file, that it is a whole shared library for this machine with the
    /// entry function of the host's ABI, and that nobody else can replace the libraries that it needs.
    ///
    /// - Parameters:
    ///   - path: The path as the user or the configuration wrote it.
    ///   - abiMajor: The major version of the host's plugin ABI.
    /// - Throws: `StorageError.pluginRefused`.
    package init(checking location: TrustedPath, abiMajor: Int) throws {
        self.location = location
        image = try ELFImage(location)
        try image.requireEntry(major: abiMajor)
        try image.requireTrustedLibraries()
    }
}

extension ELFImage {
    /// The libraries that ld.so loads together with this one, and where it first looks for them.
    struct Libraries {
        /// The names of the libraries that it needs.
        private(set) var needed: [String] = []
        /// The entries of DT_RPATH and DT_RUNPATH, as they are written.
        private(set) var runPath: [String] = []

        /// - Parameter string: The bytes of the string table from an offset up to the next NUL.
        init(_ reader: Reader, _ dynamic: Dynamic, string: (Int) throws -> ArraySlice<UInt8>?) throws {
            func text(_ offset: UInt64) throws -> String {
                guard let offset = Int(exactly: offset), let bytes = try string(offset),
                    let text = String(validating: bytes, as: UTF8.self)
                else { throw reader.damaged("names a library or a folder of libraries outside its own texts") }
                return text
            }
            needed = try dynamic.needed.map(text)
            for path in [dynamic.value(DT_RPATH), dynamic.value(DT_RUNPATH)].compactMap({ $0 }) {
                runPath += try text(path).split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            }
        }
    }

    /// Requires that ld.so finds the needed libraries only where only root and the user can put files: no entry of the
    /// run path is empty, relative or writable by others, or another folder for each process, and the libraries found
    /// there are as safe as this one, with their own run paths.
    ///
    /// The system's folders (ld.so.conf(5)) are not checked.
    ///
    /// - Throws: `StorageError.pluginRefused` with the entry.
    package func requireTrustedLibraries() throws {
        var search = LibrarySearch()
        try search.check(libraries, of: path)
    }
}

extension StorageError {
    /// The refusal of a plugin file: `finding` follows "plugin file /path".
    package static func refusing(_ path: String, _ finding: String, hint: String = "") -> StorageError {
        StorageError(.pluginRefused, "plugin file \(PathText.shown(path)) \(finding)", hint: hint)
    }
}
