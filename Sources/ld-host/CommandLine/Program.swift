internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost
internal import LocalDataTesting

/// The command line of LocalData.
@main
struct Program {
    static func main() async {
        leaveNoTrace()
        exit(await run(Array(CommandLine.arguments.dropFirst())))
    }

    /// Runs one command line and returns its exit status.
    static func run(_ words: [String]) async -> Int32 {
        // Asked for by a parent that inspects a plugin: nothing else may be printed or loaded.
        if words.count == 2, words[0] == PluginInspector.command { return Inspection.print(words[1]) }
        if words == [ConformanceOrder.command] { return ConformanceChild.run() }
        do {
            let invocation = try Invocation(words)
            return try await invocation.command.run(invocation.arguments, Session(invocation.arguments)).code
        } catch let error as UsageError {
            Output.complain(error.message, hint: error.hint)
            return ExitStatus.usage.code
        } catch {
            let error = (error as? StorageError) ?? StorageError(.unknown, "\(error)")
            Output.complain(error.message, hint: error.hint)
            return (error.code == .notFound ? ExitStatus.notFound : .failure).code
        }
    }

    /// Values may be secrets: neither a core dump nor the runtime's crash report may show the memory they were in.
    private static func leaveNoTrace() {
        for signal in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGQUIT] { Glibc.signal(signal, SIG_DFL) }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
}
