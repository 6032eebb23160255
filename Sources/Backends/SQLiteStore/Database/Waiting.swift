import Glibc

/// Called by SQLite when another connection is in the way; whether to try again. The times vary, so that of many
/// processes that wait none is always the last to ask.
func waitForOthers(context: UnsafeMutableRawPointer?, attempts: Int32) -> Int32 {
    guard attempts < longestWait else { return 0 }
    usleep(attempts < 4 ? 200 : UInt32.random(in: 1000...5000))
    return 1
}

/// How often that is, for about a minute.
private let longestWait: Int32 = 20_000
