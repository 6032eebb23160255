import Glibc

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
