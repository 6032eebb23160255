import Glibc

extension ChildProcess {
    /// Collects what comes out of a pipe, up to a limit; what is above it is read all the same, so that the child never
    /// waits for a full pipe.
    struct Capture: ~Copyable {
        /// Which bytes are kept.
        enum Part { case first, last }

        /// The most that a pipe holds for a user without privileges (/proc/sys/fs/pipe-max-size, see pipe(7)).
        private static let largestPipe = 1 << 20

        private let descriptor: OwnedDescriptor
        private let part: Part
        private let limit: Int
        private var bytes: [UInt8] = []
        /// Whether bytes were dropped.
        private(set) var isTruncated = false
        /// Whether more can come.
        private(set) var isOpen = true

        init(_ descriptor: consuming OwnedDescriptor, keeping part: Part, limit: Int) {
            self.descriptor = descriptor
            self.part = part
            self.limit = limit
        }

        /// What to wait for with poll(2); nothing once the pipe has ended.
        var interest: pollfd { pollfd(fd: isOpen ? descriptor.raw : -1, events: Int16(POLLIN), revents: 0) }

        /// The bytes that are kept.
        var kept: [UInt8] { part == .last ? Array(bytes.suffix(limit)) : bytes }

        /// Reads once, without waiting; returns how many bytes there were.
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

        /// Takes what is in the pipe; not more than one can hold, as somebody may go on writing for ever.
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
                // Seldom, so that a long output is not moved again and again.
                if bytes.count > 2 * limit + (64 << 10) { bytes.removeFirst(bytes.count - limit) }
            }
        }
    }
}
