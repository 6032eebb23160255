internal import CLinux
internal import FoundationEssentials
internal import Glibc
internal import HostGround
internal import LocalDataAPI

/// The process that inspects plugins, run by `ld-host`. For each plugin it starts a child that loads it, waits for that
/// child, and ends everything that the plugin's code has started, even outside of the process group. So nothing of one
/// plugin is left when the next one is loaded.
///
/// The child cannot send signals to other processes, trace them or change their limits. Its only descriptors are the
/// one for its report and standard error. It is no sandbox: it reads and writes files as the user can. Nor is a report
/// proven to come from the host and not from the plugin: the host checks the descriptor again when it loads the plugin.
package enum InspectionProcess {
    /// Inspects files, each in a child of this process, which must have one thread.
    ///
    /// - Parameter timeout: The time limit per file.
    /// - Returns: The text of the reports, for ``PluginInspector``.
    package static func reports(on paths: [String], timeout: Duration) -> [UInt8] {
        ld_linux_adopt_orphans()
        prepare()
        return PluginInspector.Report.text(of: paths.map { report(on: $0, timeout: timeout) })
    }

    /// Initializes what checking a file and writing a report need, so that no child has to do it again. This program is
    /// no plugin, but it has some linked in.
    private static func prepare() {
        let reports =
            PluginImage.ofProgram.map { PluginInspector.Report(.success($0.description)) }
            + [PluginInspector.report(on: "/proc/self/exe")]
        for report in reports { _ = PluginInspector.Report(text: report.text) }
    }

    private static func report(on path: String, timeout: Duration) -> PluginInspector.Report {
        var ends: [Int32] = [-1, -1]
        guard ld_linux_pipe2(&ends, O_CLOEXEC) == 0 else { return failure("no pipe: \(text(errno))") }
        let child = ld_linux_fork()
        guard child >= 0 else {
            let reason = text(errno)
            for end in ends { close(end) }
            return failure("no process: \(reason)")
        }
        if child == 0 { load(path, ends[1]) }
        close(ends[1])
        defer { close(ends[0]) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        var output = Output(descriptor: ends[0])
        let status = wait(for: child, &output, until: SuspendingClock.now.advanced(by: timeout))
        output.drain()
        endDescendants()
        guard let status else { return PluginInspector.Report(end: .timedOut) }
        guard status == 0 else {
            let signal = status & 0x7F
            return PluginInspector.Report(end: signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal))
        }
        let report = PluginInspector.Report(text: output.bytes)
        return report.map { PluginInspector.Report(description: $0.description, refusal: $0.refusal) }
            ?? PluginInspector.Report(end: .exited(0))
    }

    /// Runs in the child: loads the file and writes the result.
    private static func load(_ path: String, _ output: Int32) -> Never {
        ld_linux_end_with_parent()
        // A constructor's output must not mix with the report.
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        if null >= 0 { for output in [STDOUT_FILENO, StandardOutput.results] { _ = dup2(null, output) } }
        ld_linux_forbid_signals()
        var rest = PluginInspector.report(on: path).text[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { _exit(2) }
            rest = rest.dropFirst(count)
        }
        // Skips the plugin's exit handlers.
        _exit(0)
    }

    /// The child's output, up to a limit.
    private struct Output {
        let descriptor: Int32
        var bytes: [UInt8] = []
        var isOpen = true

        mutating func readOnce() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else {
                isOpen = count < 0 && (errno == EAGAIN || errno == EINTR)
                return false
            }
            if bytes.count < 8 << 20 { bytes.append(contentsOf: buffer[..<count]) }
            return true
        }

        /// Takes the available output; another process with the pipe may write forever.
        mutating func drain() {
            for _ in 0..<16 where !readOnce() { return }
        }
    }

    /// The child's status, or `nil` if it did not end in time; then it is killed.
    private static func wait(
        for child: pid_t, _ output: inout Output, until end: SuspendingClock.Instant
    ) -> Int32? {
        let ending = OwnedDescriptor(ld_linux_pidfd_open(child))
        while true {
            var status: Int32 = 0
            let reaped = waitpid(child, &status, WNOHANG)
            if reaped == child { return status }
            let remaining = end - SuspendingClock.now
            guard remaining > .zero else {
                kill(child, SIGKILL)
                return nil
            }
            let (seconds, attoseconds) = remaining.components
            let milliseconds = Int32(min(seconds, 60)) * 1000 + Int32(attoseconds / 1_000_000_000_000_000) + 1
            var number: Int32 = -1
            switch ending {
            case .some(let ending): number = ending.raw
            case .none: break
            }
            var wanted = [
                pollfd(fd: output.isOpen ? output.descriptor : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: number, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&wanted, nfds_t(wanted.count), number < 0 ? min(milliseconds, 5) : milliseconds)
            if wanted[0].revents != 0 { _ = output.readOnce() }
        }
    }

    /// Kills and reaps all descendants of this process; orphans become its children.
    private static func endDescendants() {
        let end = SuspendingClock.now.advanced(by: .seconds(5))
        while SuspendingClock.now < end {
            let reaped = waitpid(-1, nil, WNOHANG)
            if reaped > 0 { continue }
            guard reaped == 0 else { return }
            let own = getpid()
            for entry in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
                if let process = pid_t(entry), parent(of: process) == own { kill(process, SIGKILL) }
            }
            usleep(1000)
        }
    }

    /// The parent of a process, by proc_pid_stat(5).
    private static func parent(of process: pid_t) -> pid_t? {
        guard let stat = try? String(contentsOf: URL(filePath: "/proc/\(process)/stat"), encoding: .isoLatin1),
            let name = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[stat.index(after: name)...].split(separator: " ")
        return fields.count > 1 ? pid_t(fields[1]) : nil
    }

    private static func failure(_ what: String) -> PluginInspector.Report {
        PluginInspector.Report(
            .failure(StorageError(.pluginRefused, "the plugin cannot be inspected: \(what)", hint: "try again")))
    }

    private static func text(_ number: Int32) -> String { StorageError.systemText(number) }
}
