internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost
internal import LocalDataTesting

/// The command line of LocalData.
@main
struct Program {
    /// Commands run on the host's own threads: their calls need no hop to others, and Swift's pool and the main queue,
    /// with the threads that they start, are not needed for most.
    static func main() {
        ResourceLimits.require()
        // Values may be secrets.
        MemorySecrecy.enforce()
        // A write beyond the largest size that a file may have fails then, and says so, instead of ending the program.
        signal(SIGXFSZ, SIG_IGN)
        ExitGuard.armProgram()
        occupyStandardDescriptors()
        guard CommandLine.argc > 0 else {
            // Swift reads them there.
            Output.complain("the arguments cannot be read from /proc/self/cmdline", hint: "mount /proc")
            exit(ExitStatus.failure.code)
        }
        guard let words = words() else {
            Output.complain("an argument is not UTF-8", hint: "give values that are not text with --stdin or --file")
            ExitGuard.end(ExitStatus.usage.code)
        }
        ExitGuard.end(run(ProgramName.words(words)))
    }

    /// The words behind the program's own name; `nil` if one is not UTF-8, which `CommandLine.arguments` would replace
    /// by other text without a word.
    private static func words() -> [String]? {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let word = CommandLine.unsafeArgv[index].flatMap({ String(validatingCString: $0) }) else {
                return nil
            }
            words.append(word)
        }
        return words
    }

    /// A program may be started with a standard descriptor closed. The next file that is opened, perhaps a value's,
    /// would get its number and then what is said on standard error. So each is taken, in a way in which it fails.
    private static func occupyStandardDescriptors() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is this one, as those below it are taken.
            _ = open("/dev/null", mode)
        }
    }

    /// Runs one command line and returns its exit status.
    private static func run(_ words: [String]) -> Int32 {
        // Asked for by a parent that inspects plugins: nothing else may be printed or loaded, and no thread started.
        if words.count > 2, words[0] == PluginInspector.command, let milliseconds = Int64(words[1]) {
            return Inspection.print(Array(words[2...]), milliseconds: milliseconds)
        }
        if words == [ConformanceOrder.command] { return ConformanceChild.run() }
        FileLock.reportWaits { Output.remark("ld-host: \(Printable($0))") }
        return (try? IOExecutor.blocking { await runCommand(words) }) ?? ExitStatus.failure.code
    }

    private static func runCommand(_ words: [String]) async -> Int32 {
        do {
            let invocation = try Invocation(words)
            let session = Session(invocation.arguments)
            defer { session.forgetSecrets() }
            return try await invocation.command.run(invocation.arguments, session).code
        } catch let error as UsageError {
            Output.complain(error.message, hint: error.hint)
            return ExitStatus.usage.code
        } catch let error as MigrationError {
            Output.complain(error.message, hint: error.underlying?.hint ?? "")
            return ExitStatus.failure.code
        } catch {
            let error = (error as? StorageError) ?? StorageError(.unknown, "\(error)")
            // Several problems of a configuration stand on lines of their own.
            let message =
                error.code == .invalidConfiguration ? error.message.replacing("\n", with: "; ") : error.message
            Output.complain(message, hint: error.hint)
            return (error.code == .notFound ? ExitStatus.notFound : .failure).code
        }
    }
}
