import Testing

/// A way in which the fixture breaks the rules, and the host's error for it.
struct PluginRefusal: Sendable, CustomTestStringConvertible {
    let variant: String
    /// The parts of the message with the found and expected values.
    let message: [String]
    let hint: String

    var testDescription: String { variant }

    init(_ variant: String, _ message: String..., hint: String = "rebuild it against this host's localdata/plugin.h") {
        self.variant = variant
        self.message = message
        self.hint = hint
    }

    /// Plugins that are refused when they are loaded, without harm to the process that tries.
    static let whenLoading = [
        PluginRefusal(
            "FIXTURE_NO_ENTRY", "does not export localdata_plugin_v1", hint: "remove it from the plugin folder"),
        PluginRefusal("FIXTURE_OTHER_MAJOR", "speaks plugin ABI 2", "expected ABI 1", hint: "update the host"),
        PluginRefusal("FIXTURE_BAD_MAJOR", "built for ABI major 2", "speaks major 1"),
        PluginRefusal("FIXTURE_BAD_MAGIC", "0x12345678", "expected 0x4c50444c"),
        PluginRefusal("FIXTURE_NULL", "its entry function returned no descriptor"),
        PluginRefusal("FIXTURE_MISALIGNED", "its descriptor"),
        PluginRefusal("FIXTURE_MINOR=0", "the provisional ABI 1.0", "loads plugins of ABI 1.1 and later"),
        PluginRefusal("FIXTURE_SIZE=8", "its descriptor has 8 bytes", "expected 64 to 4096, a multiple of 8"),
        PluginRefusal("FIXTURE_SIZE=56", "its descriptor has 56 bytes", "expected 64 to 4096"),
        PluginRefusal("FIXTURE_SIZE=68", "its descriptor has 68 bytes", "expected 64 to 4096, a multiple of 8"),
        PluginRefusal("FIXTURE_SIZE=4104", "its descriptor has 4104 bytes", "expected 64 to 4096"),
        PluginRefusal("FIXTURE_SIZE=0xffffffffu", "its descriptor has 4294967295 bytes", "expected 64 to 4096"),
        PluginRefusal("FIXTURE_LYING_COUNT", "1152921504606846976 components", "expected 1 to 64"),
        PluginRefusal("FIXTURE_BAD_NAME", "its name", "not UTF-8"),
        PluginRefusal("FIXTURE_NULL_COMPONENT", "component 1 has a struct of 0 bytes"),
        PluginRefusal("FIXTURE_COMPONENT_SIZE=12", "component 1 has a struct of 12 bytes", "expected 72 to 4096"),
        PluginRefusal("FIXTURE_NO_OPEN", "component 'fixture' has no function 'open'"),
        PluginRefusal(
            "FIXTURE_BAD_ID", "component 1 has an invalid id", hint: "1 to 64 lower case letters, digits"),
        PluginRefusal("FIXTURE_BAD_OPTIONS", "component 'fixture'", "option list", hint: "a JSON array"),
        PluginRefusal(
            "FIXTURE_TWICE", "offers component 'fixture' twice", hint: "give each component its own id"),
        PluginRefusal(
            "FIXTURE_MISSING_LIBRARY_FUNCTION", "cannot be loaded", "fixture_function_of_no_library",
            hint: "install the libraries that it needs"),
    ]

    /// Stores that are refused when they are opened.
    static let whenOpening = [
        PluginRefusal("FIXTURE_OPEN_NULL", "table has 0 bytes", "expected 96 to 4096", hint: "ABI major 1"),
        PluginRefusal("FIXTURE_STORE_SIZE=16", "table has 16 bytes", "expected 96 to 4096", hint: "ABI major 1"),
        PluginRefusal("FIXTURE_STORE_SIZE=88", "table has 88 bytes", "expected 96 to 4096", hint: "ABI major 1"),
        PluginRefusal("FIXTURE_STORE_SIZE=100", "table has 100 bytes", "a multiple of 8", hint: "ABI major 1"),
        PluginRefusal("FIXTURE_STORE_SIZE=0xfffffff0u", "table has 4294967280 bytes", hint: "ABI major 1"),
        PluginRefusal("FIXTURE_NO_GET", "without the function 'get'", hint: "a store's table needs resolve, release"),
        PluginRefusal("FIXTURE_LATENCY=9", "unknown latency class 9", hint: "LD_LATENCY_"),
    ]
}
