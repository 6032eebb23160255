internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost
internal import Synchronization

/// Lets a long command end at a point where it can say what it has done, and where it leaves no file behind, when a
/// person (SIGINT) or the system (SIGTERM, SIGHUP) ends it. Then the program ends by the signal, as its parent expects.
/// A second signal ends it at once.
enum Interruption {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// From now on, signals wait for the next ``check(_:)``. One that is ignored, as under nohup(1), stays so.
    static func begin() {
        noted.store(0, ordering: .relaxed)
        for number in signals where isSame(signal(number, noteSignal), SIG_IGN) { signal(number, SIG_IGN) }
    }

    /// From now on, signals end the program at once again, as a person expects who is asked something.
    static func cease() {
        for number in signals where isSame(signal(number, SIG_DFL), SIG_IGN) { signal(number, SIG_IGN) }
    }

    /// Ends the command if there was a signal.
    ///
    /// - Throws: `cancelled` with `what` is so now.
    static func check(_ what: String) throws(StorageError) {
        guard noted.load(ordering: .relaxed) != 0 else { return }
        throw StorageError(.cancelled, "interrupted: \(what)")
    }

    /// Ends the program if there was a signal, where the next run of the command goes on: says what is so now, and how
    /// to go on. For calls that cannot be ended by an error; they survive that as they survive any other end.
    static func endHere(_ what: @autoclosure () -> String, hint: @autoclosure () -> String) {
        guard noted.load(ordering: .relaxed) != 0 else { return }
        Output.complain("interrupted: \(what())", hint: hint())
        end()
    }

    /// Ends the program if there was a signal that ended the command.
    static func end() {
        let signal = noted.load(ordering: .relaxed)
        if signal != 0 { EndingSignal.end(by: signal) }
    }

    private static func isSame(_ handler: __sighandler_t?, _ other: __sighandler_t?) -> Bool {
        unsafeBitCast(handler, to: Int.self) == unsafeBitCast(other, to: Int.self)
    }
}

/// The signal that came; 0 for none.
private let noted = Atomic<Int32>(0)

/// Called by the system, so it calls nothing that is unsafe there. The next signal has its usual effect.
private func noteSignal(_ number: Int32) {
    noted.store(number, ordering: .relaxed)
    signal(number, SIG_DFL)
}
