internal import Glibc

/// Takes the measurements that need a Swift program; `run` does the rest.
@main
struct Benchmark {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count >= 4 else {
            complain(
                "usage: localdata-bench PLUGINS TOOLS FOLDER "
                    + "[boundary|serializers|chains|conditions|scaling|files|sqlite|postgresql|sync|migrations|latency|"
                    + "crypto|sealing|secrets]..."
            )
            exit(2)
        }
        let setting = Setting(plugins: words[1], tools: words[2], folder: words[3])
        let chosen = words.dropFirst(4)
        // Not on the main actor: an app's task would not call from its executor.
        do { try await Task.detached { try await run(setting, chosen) }.value } catch {
            complain("error: \(error)")
            exit(1)
        }
    }

    private static func run(_ setting: Setting, _ chosen: ArraySlice<String>) async throws {
        func wants(_ section: String) -> Bool { chosen.isEmpty || chosen.contains(section) }
        if wants("boundary") { try await BoundaryCost(setting: setting).run() }
        if wants("serializers") { try await SerializerCost(setting: setting).run() }
        if wants("chains") { try await ChainCost(setting: setting).run() }
        if wants("conditions") { try await ConditionCost(setting: setting).run() }
        if wants("scaling") { try await Scaling(setting: setting).run() }
        if wants("files") { try await FileCost(setting: setting).run() }
        if wants("sqlite") { try await DatabaseCost(setting: setting).run() }
        if wants("postgresql"), let server = getenv("SERVER") {
            try await ServerCost(setting: setting, server: String(cString: server)).run()
        }
        if wants("sync") {
            try await SyncCost(setting: setting, server: getenv("NATS").map { String(cString: $0) }).run()
        }
        if wants("migrations") { try await MigrationCost(setting: setting).run() }
        if wants("latency") { try await PoolLatency(setting: setting).run() }
        if wants("crypto") { try await CipherCost(setting: setting).run() }
        if wants("sealing") { try await EnvelopeCost(setting: setting).run() }
        if wants("secrets") { try await SecretCost(setting: setting).run() }
    }

    private static func complain(_ text: String) {
        let line = Array("\(text)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}
