internal import CLocalData
internal import LocalDataAPI

/// A plugin's descriptor, checked and copied out of the plugin's memory.
struct PluginTable: Sendable {
    let description: PluginDescription
    let components: [ld_component]

    /// Reads what an entry function returned.
    ///
    /// - Parameter file: The name for errors.
    /// - Throws: `pluginRefused` with what was expected and found.
    init(_ pointer: UnsafeRawPointer?, file: String) throws(StorageError) {
        func refused(_ what: String, _ hint: String = rebuild) -> StorageError {
            StorageError(.pluginRefused, "plugin '\(file)': \(what)", hint: hint)
        }
        guard let pointer else { throw refused("its entry function returned no descriptor") }
        var plugin = ld_plugin()
        guard BoundaryStruct.copy(pointer, into: &plugin, least: ld_plugin_least_size) else {
            throw refused(
                "its descriptor has \(BoundaryStruct.size(pointer)) bytes; "
                    + "expected \(BoundaryStruct.sizes(least: ld_plugin_least_size))")
        }
        guard plugin.magic == LD_MAGIC else {
            throw refused(
                "its descriptor starts with the mark 0x\(String(plugin.magic, radix: 16)); "
                    + "expected 0x\(String(LD_MAGIC, radix: 16))")
        }
        guard plugin.abi_major == UInt16(LD_ABI_MAJOR) else {
            throw refused("it is built for ABI major \(plugin.abi_major); this host speaks major \(LD_ABI_MAJOR)")
        }
        guard plugin.abi_minor > 0 else {
            throw refused(
                "it is built for the provisional ABI \(LD_ABI_MAJOR).0; "
                    + "this host loads plugins of ABI \(LD_ABI_MAJOR).1 and later")
        }
        guard let name = plugin.name.text(atMost: 128), !name.isEmpty else {
            throw refused("its name is missing, longer than 128 bytes or not UTF-8")
        }
        guard let version = plugin.version.text(atMost: 128) else {
            throw refused("its version is longer than 128 bytes or not UTF-8")
        }
        guard (1...64).contains(plugin.component_count) else {
            throw refused("it lists \(UInt(bitPattern: plugin.component_count)) components; expected 1 to 64")
        }
        guard let list = plugin.components else { throw refused("its list of components is at the address NULL") }
        var components: [ld_component] = []
        var descriptions: [PluginDescription.Component] = []
        for index in 0..<plugin.component_count {
            var component = ld_component()
            guard BoundaryStruct.copy(list[index], into: &component, least: ld_component_least_size) else {
                throw refused(
                    "component \(index + 1) has a struct of \(BoundaryStruct.size(list[index])) bytes; "
                        + "expected \(BoundaryStruct.sizes(least: ld_component_least_size))")
            }
            guard let id = component.id.text(atMost: 64), Self.isUsable(id) else {
                throw refused(
                    "component \(index + 1) has an invalid id",
                    "an id has 1 to 64 lower case letters, digits, '-' and '.'")
            }
            guard !descriptions.contains(where: { $0.id == id }) else {
                throw refused("it offers component '\(id)' twice", "give each component its own id")
            }
            guard component.open != nil else { throw refused("component '\(id)' has no function 'open'") }
            guard let summary = component.summary.text(atMost: 4096),
                let json = component.options.text(atMost: 1 << 20),
                let options = json.isEmpty ? [] : ComponentOption.list(in: json.utf8)
            else {
                throw refused(
                    "component '\(id)' has a summary or an option list that cannot be read",
                    "the option list is a JSON array; see ld_component in the header")
            }
            components.append(component)
            descriptions.append(.init(kind: component.kind, id: id, summary: summary, options: options))
        }
        self.components = components
        description = PluginDescription(
            name: name, version: version, abi: "\(plugin.abi_major).\(plugin.abi_minor)", components: descriptions)
    }

    private static func isUsable(_ id: String) -> Bool {
        !id.isEmpty
            && id.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}

private let rebuild = "rebuild it against this host's localdata/plugin.h, or remove the file"
