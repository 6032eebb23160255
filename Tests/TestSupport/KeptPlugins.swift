import FoundationEssentials

/// The plugins that were built when a minor of the ABI was frozen, in `Tests/PluginFixtures/Kept`.
package struct KeptPlugins: Sendable, CustomStringConvertible {
    /// The ABI that they were built for, such as `1.1`.
    package let abi: String

    package var description: String { "ABI \(abi)" }

    /// The folder of this ABI, with the header that they were built against.
    package var folder: String { "\(Self.root)/\(abi)" }

    /// Those of every minor so far, the first one first.
    package static var all: [KeptPlugins] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let minors = names.compactMap { $0.hasPrefix("1.") ? Int($0.dropFirst(2)) : nil }
        return minors.sorted().map { KeptPlugins(abi: "1.\($0)") }
    }

    /// What they are kept for: each has the tables of one kind of component.
    package static let kinds = ["Store", "Crypto", "Sync", "Pack"]

    /// The machines that they are kept for, as their folders are called.
    package static let machines = ["x86_64", "aarch64"]

    /// This machine's.
    package static var machine: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "aarch64"
        #else
            #error("build kept plugins for this machine")
        #endif
    }

    /// The file of a kind, as it is kept.
    package func file(_ kind: String, machine: String = machine) -> String { "\(folder)/\(machine)/libKept\(kind).so" }

    /// Copies this machine's into a folder, where they can be loaded; nobody else could have written there.
    package func install(in target: String) throws {
        for kind in Self.kinds {
            let copy = "\(target)/libKept\(kind).so"
            try FileManager.default.copyItem(atPath: file(kind), toPath: copy)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: copy)
        }
    }

    private static let root = "\(Repository.tests)/PluginFixtures/Kept"
}
