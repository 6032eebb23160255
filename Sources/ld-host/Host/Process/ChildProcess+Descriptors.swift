import CLinux
import Glibc
import LocalDataAPI

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
