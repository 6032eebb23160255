/// A plugin file that passed every check that is possible without running any of its code.
package struct PluginFile: Sendable {
    /// Where it is; the path to give to `dlopen`.
    package let location: TrustedPath
    /// What is in it.
    package let image: ELFImage

    /// Checks that it is a whole shared library for this machine, that it has the entry function of the host's ABI, and
    /// that nobody else can put a library where it looks for those that it needs.
    ///
    /// - Parameters:
    ///   - location: The path, which nobody else can change.
    ///   - abiMajor: The major of the plugin ABI that the host speaks.
    /// - Throws: `StorageError.pluginRefused`.
    package init(checking location: TrustedPath, abiMajor: Int) throws {
        self.location = location
        image = try ELFImage(location)
        try image.requireEntry(major: abiMajor)
        try image.requireTrustedLibraries()
    }
}
