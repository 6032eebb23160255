import Glibc

/// Pauses between attempts to take a lock, since a blocking wait has no time limit. They grow and vary, so that among
/// many waiting processes none is always the last to try.
package struct LockPause {
    private var next: UInt32
    private let longest: UInt32

    /// Pauses of about this many microseconds.
    package init(from shortest: UInt32, to longest: UInt32) {
        next = shortest
        self.longest = longest
    }

    /// Sleeps for the next pause.
    package mutating func take() {
        usleep(UInt32.random(in: next / 2...next))
        next = min(2 * next, longest)
    }
}
