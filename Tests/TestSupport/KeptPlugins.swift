import FoundationEssentials

/// The plugins that were built when a minor of the ABI was frozen, in `Tests/PluginFixtures/Kept`.
package struct KeptPlugins: Sendable, CustomStringConvertible {
    /// The ABI that they were built for, such as `1.1`.
    package let abi: String

    package var description: String { "ABI \(abi)" }

    /// The folder of this ABI, with the header that they were built against.
    package var folder: String { "\(Self.root)/\(abi)" }

    /// The kept plugins of every minor so far, the first one first.
    package static var all: [KeptPlugins] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let minors = names.compactMap { $0.hasPrefix("1.") ? Int($0.dropFirst(2)) : nil }
        return minors.sorted().map { KeptPlugins(abi: "1.\($0)") }
    }

    /// The kinds of components that are kept: each has the tables of one kind.
    package static let kinds = ["Store", "Crypto", "Sync", "Pack"]

    /// The machines for which plugins are kept, by the names of their folders.
    package static let machines = ["x86_64", "aarch64"]

    /// The name of this machine.
    package static var machine: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "aarch64"
        #else
            #error("build kept plugins for this machine")
        #endif
    }

    /// The kept file of a kind.
    package func file(_ kind: String, machine: String = machine) -> String { "\(folder)/\(machine)/libKept\(kind).so" }

    /// Copies this machine's plugins into a folder from which they can be loaded, since no other user could have
    /// written there.
    package func install(in target: String) throws {
        for kind in Self.kinds {
            let copy = "\(target)/libKept\(kind).so"
            try FileManager.default.copyItem(atPath: file(kind), toPath: copy)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: copy)
        }
    }

    private static let root = "\(Repository.tests)/PluginFixtures/Kept"
}
