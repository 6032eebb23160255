import CLinux
import Glibc
import LocalDataAPI

/// A program that runs outside of the host process, for work that must not crash the host. It has a deadline, inherits
/// only what is given here, and its whole process group is gone when the call returns.
///
/// The child gets its own process group, default signal dispositions, an empty signal mask, only the three standard
/// descriptors, and only the given environment. It keeps the host's user, working directory and resource limits.
/// Processes that leave the group, by `setsid(2)` or `setpgid(2)`, are out of reach and not waited for.
package struct ChildProcess: Sendable {
    /// The path of the program; `PATH` is not searched.
    package let executable: String
    /// The arguments after the program's own name.
    package let arguments: [String]
    /// The whole environment.
    package let environment: [String: String]
    /// The program's standard input, held in memory; `nil` is `/dev/null`.
    package let input: [UInt8]?
    /// The number of first bytes of standard output to keep; the rest is read and dropped.
    package let outputLimit: Int
    /// The number of last bytes of standard error to keep.
    package let errorLimit: Int
    /// Whether to wait with pidfd_open(2) where the kernel has it (5.3); otherwise polls every 5 ms.
    package let usesPidfd: Bool

    /// Describes a program to run; does not start it.
    package init(
        _ executable: String, arguments: [String] = [], environment: [String: String] = [:], input: [UInt8]? = nil,
        outputLimit: Int = 8 << 20, errorLimit: Int = 64 << 10, usesPidfd: Bool = true
    ) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.input = input
        self.outputLimit = max(0, outputLimit)
        self.errorLimit = max(0, errorLimit)
        self.usesPidfd = usesPidfd
    }

    /// Starts the program and waits until it ends or its time is up.
    ///
    /// Blocks the calling thread, which should be one of the host's I/O threads. After the program has ended, the rest
    /// of its process group is killed and the available output is taken. A descendant outside of the group that keeps
    /// the output open is not waited for. When the time is up, the group is killed with SIGKILL, which cannot be
    /// caught, and the program is reaped. Only if the kernel does not release it within 5 s (a hung network file
    /// system), the call returns without reaping.
    ///
    /// - Parameter deadline: The time from now, not counting a suspended machine's sleep (CLOCK_MONOTONIC).
    /// - Throws: `StorageError.pluginRefused` with the program if it cannot be started, or if other code in this
    ///   process took its exit status.
    package func run(deadline: Duration) throws -> Completion { try run(deadline: deadline) {} }

    /// Does the same.
    ///
    /// - Parameter meanwhile: Runs after the program has started. The program may wait for it if a pipe is full.
    private func run(deadline: Duration, meanwhile: () -> Void) throws -> Completion {
        // Far longer than any use; a longer time would overflow the clock.
        let limit = min(deadline, .seconds(365 * 86_400))
        let end = SuspendingClock.now.advanced(by: limit)
        var supervision = try spawn()
        meanwhile()
        let ended = try supervision.wait(until: end)
        return try supervision.finish(timedOut: ended ? nil : deadline)
    }

    /// Runs programs at the same time, and waits for all of them, as ``run(deadline:)`` does for one.
    ///
    /// - Parameter deadline: The time for each, from its start.
    /// - Returns: How each ended, or why it could not be run, in the order of the programs.
    package static func run(
        _ programs: ArraySlice<ChildProcess>, deadline: (ChildProcess) -> Duration
    ) -> [Result<Completion, any Error>] {
        guard let first = programs.first else { return [] }
        let others = programs.dropFirst()
        var after: [Result<Completion, any Error>] = []
        let own = Result { try first.run(deadline: deadline(first)) { after = run(others, deadline: deadline) } }
        // If the first could not be started.
        if after.isEmpty { after = run(others, deadline: deadline) }
        return [own] + after
    }

    /// An error about this program, with the system's text.
    func failure(_ what: String, _ number: Int32, hint: String = "") -> StorageError {
        let text = StorageError.systemText(number)
        return StorageError(.pluginRefused, "program \(PathText.shown(executable)) \(what): \(text)", hint: hint)
    }
}

extension ChildProcess {
    /// Collects output from a pipe, up to a limit. Output beyond it is read too, so that the child never waits for a
    /// full pipe.
    struct Capture: ~Copyable {
        /// Which bytes are kept.
        enum Part { case first, last }

        /// The largest pipe of an unprivileged user (/proc/sys/fs/pipe-max-size, see pipe(7)).
        private static let largestPipe = 1 << 20

        private let descriptor: OwnedDescriptor
        private let part: Part
        private let limit: Int
        private var bytes: [UInt8] = []
        /// Whether bytes were dropped.
        private(set) var isTruncated = false
        /// Whether more output can come.
        private(set) var isOpen = true

        init(_ descriptor: consuming OwnedDescriptor, keeping part: Part, limit: Int) {
            self.descriptor = descriptor
            self.part = part
            self.limit = limit
        }

        /// What poll(2) should wait for; nothing once the pipe has ended.
        var interest: pollfd { pollfd(fd: isOpen ? descriptor.raw : -1, events: Int16(POLLIN), revents: 0) }

        /// The kept bytes.
        var kept: [UInt8] { part == .last ? Array(bytes.suffix(limit)) : bytes }

        /// Reads once, without waiting; returns the number of bytes.
        @discardableResult
        mutating func readOnce() -> Int {
            guard isOpen else { return 0 }
            return withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
                let count = read(descriptor.raw, buffer.baseAddress, buffer.count)
                guard count > 0 else {
                    isOpen = count < 0 && (errno == EAGAIN || errno == EINTR)
                    return 0
                }
                keep(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                return count
            }
        }

        /// Takes the pipe's content; not more than one can hold, as some process may write forever.
        mutating func drain() {
            var taken = 0
            while taken < Self.largestPipe {
                let count = readOnce()
                guard count > 0 else { return }
                taken += count
            }
        }

        private mutating func keep(_ new: UnsafeRawBufferPointer) {
            switch part {
            case .first:
                let room = limit - bytes.count
                bytes.append(contentsOf: new.prefix(room))
                isTruncated = isTruncated || new.count > room
            case .last:
                bytes.append(contentsOf: new)
                isTruncated = isTruncated || bytes.count > limit
                // Rarely, so that a long output is not moved repeatedly.
                if bytes.count > 2 * limit + (64 << 10) { bytes.removeFirst(bytes.count - limit) }
            }
        }
    }
}

extension ChildProcess {
    /// How a program ended.
    package enum Outcome: Equatable, Sendable, CustomStringConvertible {
        /// It ended by itself.
        case exited(code: Int32)
        /// A signal ended it; the name is as in "SIGABRT".
        case signalled(Int32, name: String)
        /// It was killed because it did not end in this time.
        case timedOut(after: Duration)

        /// A phrase to follow the program's name.
        package var description: String {
            switch self {
            case .exited(let code): "exited with code \(code)"
            case .signalled(let signal, let name): "was ended by signal \(signal) (\(name))"
            case .timedOut(let duration): "did not end within \(duration)"
            }
        }
    }

    /// How a program ended, and its output.
    package struct Completion: Sendable {
        /// How it ended.
        package let outcome: Outcome
        /// The first bytes of its standard output.
        package let output: [UInt8]
        /// Whether it wrote more than `output` holds.
        package let isOutputTruncated: Bool
        /// The last bytes of its standard error.
        package let errorTail: [UInt8]

        /// `errorTail` as text, with what is not UTF-8 replaced.
        package var errorText: String {
            // The cut may have left the end of a character at the front.
            String(decoding: errorTail.drop { $0 & 0xC0 == 0x80 }, as: UTF8.self)
        }
    }
}

extension ChildProcess {
    /// A pipe from the child to the host; both ends are closed on exec.
    struct Pipe: ~Copyable {
        private let reading: OwnedDescriptor
        /// The child's end.
        let writing: OwnedDescriptor

        init(of child: ChildProcess) throws {
            var ends: [CInt] = [-1, -1]
            guard ld_linux_pipe2(&ends, O_CLOEXEC) == 0, let first = OwnedDescriptor(ends[0]),
                let second = OwnedDescriptor(ends[1])
            else { throw child.failure("cannot be started: no pipe", errno) }
            // Only the host's end: the child may rely on blocking writes.
            guard fcntl(first.raw, F_SETFL, O_NONBLOCK) == 0 else {
                throw child.failure("cannot be started: no pipe", errno)
            }
            let readingEnd = try child.aboveStandard(first)
            let writingEnd = try child.aboveStandard(second)
            reading = readingEnd
            writing = writingEnd
        }

        /// Closes the child's end and returns the other.
        consuming func takeReading() -> OwnedDescriptor { reading }
    }

    /// The standard input: `/dev/null`, or a file in memory with the bytes. Unlike a pipe, it needs no writing while
    /// the child runs, and cannot raise SIGPIPE.
    func openInput() throws -> OwnedDescriptor {
        guard let input else {
            guard let null = OwnedDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)) else {
                throw failure("cannot be started: no /dev/null", errno)
            }
            return try aboveStandard(null)
        }
        guard let file = OwnedDescriptor(ld_linux_memfd("input")) else {
            throw failure("cannot be started: no memory file for its input", errno)
        }
        var rest = input[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(file.raw, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw failure("cannot be started: its input cannot be stored", errno) }
            rest = rest.dropFirst(written)
        }
        guard lseek(file.raw, 0, SEEK_SET) == 0 else {
            throw failure("cannot be started: its input cannot be stored", errno)
        }
        return try aboveStandard(file)
    }

    /// Moves a descriptor out of the range 0 to 2. It gets such a number if the host itself runs without standard
    /// descriptors, and the child's own would replace it.
    private func aboveStandard(_ descriptor: consuming OwnedDescriptor) throws -> OwnedDescriptor {
        guard descriptor.raw <= STDERR_FILENO else { return descriptor }
        guard let moved = OwnedDescriptor(fcntl(descriptor.raw, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) else {
            throw failure("cannot be started: no descriptor", errno)
        }
        return moved
    }
}

/// Whether the program has more rights than the user who started it.
package enum ProcessPrivilege {
    /// The kernel's own answer: the entry `AT_SECURE` of the auxiliary vector, see getauxval(3). It covers set-user-ID,
    /// set-group-ID, file capabilities and security modules.
    ///
    /// Only reads memory: `/proc/self/auxv` belongs to root once the process forbids core dumps.
    package static var isElevated: Bool { ld_linux_is_elevated() != 0 }
}
