/// How fast time goes by for a command, by the clocks that measure spans.
enum Haste: Int {
    /// Nothing takes any time, however slow the machine is.
    case none = 0
    /// What is short seems long.
    case great = 2000

    private static let library = Result {
        try PreloadedLibrary.build("haste", prefix: "haste", in: "CommandLineTests/Programs")
    }

    /// The variables with which a program is run so, and shows how far it is after the usual time.
    func variables() throws -> [String: String] {
        ["LD_PRELOAD": try Self.library.get(), "LD_HASTE": String(rawValue), "LOCALDATA_PROGRESS_DELAY": ""]
    }
}
