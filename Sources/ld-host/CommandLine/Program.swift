internal import ConformanceKit
internal import FoundationEssentials
internal import Glibc
internal import HostClients
internal import LocalDataAPI
internal import LocalDataHost

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
        // A umask such as 0277 takes rights from the user itself, which then has files that it cannot use.
        umask(umask(0o077) & ~0o700)
        ExitGuard.armProgram()
        occupyStandardDescriptors()
        StandardOutput.separate()
        InheritedDescriptors.require()
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
        if words.first == Completion.word {
            try? IOExecutor.blocking { await Completion.print(Array(words.dropFirst())) }
            return ExitStatus.done.code
        }
        // What reports about plugins has to outlive them.
        if (try? Invocation(words))?.command.name == Command.doctor.name {
            return EndingNote.surviving { waitFor(words) }
        }
        return waitFor(words)
    }

    private static func waitFor(_ words: [String]) -> Int32 {
        FileLock.reportWaits(after: ProgressLine.delay ?? .seconds(1)) { Output.remark("ld-host: \(Printable($0))") }
        CallWatch.report(after: ProgressLine.delay ?? .seconds(10), endingAfter: .seconds(120)) {
            Output.remark("ld-host: \(Printable($0))")
        }
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
            Output.complain(error)
            return ExitStatus.failure.code
        } catch {
            let error = StorageError(wrapping: error)
            Output.complain(error)
            if error.code == .cancelled { Interruption.end() }
            return (error.code == .notFound ? ExitStatus.notFound : .failure).code
        }
    }
}

/// The child's part of inspecting plugins.
enum Inspection {
    /// Looks at the files and prints the reports.
    static func print(_ paths: [String], milliseconds: Int64) -> Int32 {
        Output.write(Data(InspectionProcess.reports(on: paths, timeout: .milliseconds(milliseconds))))
        return ExitStatus.done.code
    }
}

/// The least that Swift's runtime needs: with less, the process ends by a signal or hangs, without an error.
enum ResourceLimits {
    private static let descriptors: rlim_t = 32
    private static let addressSpace: rlim_t = 192 << 20

    /// Raises what is set too low as far as this process may. Ends it with a sentence where that is not far enough.
    static func require() {
        if let most = raised(RLIMIT_NOFILE, to: descriptors) {
            refuse("this process may have \(most) files open; expected \(descriptors) or more", "ulimit -n 1024")
        }
        if let most = raised(RLIMIT_AS, to: addressSpace) {
            refuse(
                "this process may use \(most >> 20) MiB of address space; expected \(addressSpace >> 20) MiB or more",
                "ulimit -v unlimited")
        }
    }

    /// - Returns: The limit, if it stays too low.
    private static func raised(_ resource: __rlimit_resource, to least: rlim_t) -> rlim_t? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_cur < least else { return nil }
        limit.rlim_cur = min(least, limit.rlim_max)
        setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
        return limit.rlim_cur < least ? limit.rlim_cur : nil
    }

    private static func refuse(_ what: String, _ command: String) {
        Output.complain(what, hint: "raise the limit: \(command), or the service's LimitNOFILE= or LimitAS=")
        exit(ExitStatus.failure.code)
    }
}
