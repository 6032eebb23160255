import Glibc

/// The pauses of who asks for a lock again and again, since a wait in the system has no limit. They grow, and they
/// vary, so that of many who wait none is always the last to ask.
package struct LockPause {
    private var next: UInt32
    private let longest: UInt32

    /// Pauses of about so many microseconds.
    package init(from shortest: UInt32, to longest: UInt32) {
        next = shortest
        self.longest = longest
    }

    /// Waits for the next one.
    package mutating func take() {
        usleep(UInt32.random(in: next / 2...next))
        next = min(2 * next, longest)
    }
}
