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
