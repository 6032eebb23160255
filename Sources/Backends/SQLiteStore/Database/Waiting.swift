import Glibc

/// Called by SQLite when another connection blocks it; returns whether to try again. The pauses vary, so that among
/// many waiting processes none is always the last to try.
func waitForOthers(context: UnsafeMutableRawPointer?, attempts: Int32) -> Int32 {
    guard attempts < longestWait else { return 0 }
    usleep(attempts < 4 ? 200 : UInt32.random(in: 1000...5000))
    return 1
}

/// The number of attempts in about a minute.
private let longestWait: Int32 = 20_000
