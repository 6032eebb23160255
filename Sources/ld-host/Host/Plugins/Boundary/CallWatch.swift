internal import CLinux
internal import Glibc
internal import HostGround
internal import Synchronization

/// Reports calls of components that do not return: a thread looks at all calls now and then, so that a call itself
/// costs nothing more.
package enum CallWatch {
    private struct Limits {
        var report = Duration.seconds(10)
        var end: Duration?
        var tell: (@Sendable (String) -> Void)?
    }

    private static let limits = Mutex(Limits())
    private static let hasStarted = Atomic<Bool>(false)

    /// Calls whose length depends on how much there is, or on what the host does with what it gets.
    private static let unbounded: Set<String> = [
        "its start", "open", "close", "check", "repair", "wipe", "verify", "migrate", "streaming read",
        "streaming write",
    ]

    /// Sets what a program does with a call that does not return.
    ///
    /// - Parameters:
    ///   - delay: After how long it is reported, and then each time that it has taken six times as long.
    ///   - limit: After how long the call of a store of this machine ends the program.
    package static func report(
        after delay: Duration, endingAfter limit: Duration, _ tell: @escaping @Sendable (String) -> Void
    ) {
        limits.withLock { $0 = Limits(report: delay, end: limit, tell: tell) }
    }

    /// From now on, calls are watched.
    static func arm() {
        guard !hasStarted.exchange(true, ordering: .relaxed) else { return }
        // Without a thread, nothing is reported.
        try? onOwnThread { watch() }
    }

    private static func watch() {
        ld_linux_name_thread("localdata-watch")
        var known: [UInt: Watched] = [:]
        while true {
            let limits = limits.withLock { $0 }
            let pause = min(.seconds(5), max(.milliseconds(100), limits.report / 4))
            usleep(UInt32(pause / .microseconds(1)))
            let now = ContinuousClock.now
            var next: [UInt: Watched] = [:]
            CallSlot.forEachRunning { call in
                var watched = known[call.number] ?? Watched(since: now, reports: limits.report)
                watched.look(at: now, call, limits)
                next[call.number] = watched
            }
            known = next
        }
    }

    private struct Watched {
        let since: ContinuousClock.Instant
        /// After how long it is reported next.
        var reports: Duration

        mutating func look(at now: ContinuousClock.Instant, _ call: CallSlot.Running, _ limits: Limits) {
            let time = now - since
            guard time >= reports || limits.end.map({ time >= $0 }) == true else { return }
            // Who reads them earlier may read what another call writes.
            guard let component = call.component, let function = call.function else { return }
            if let end = limits.end, time >= end, component.isLocal, !CallWatch.unbounded.contains(function) {
                ExitGuard.end(component, CallPhrase.hangs, function, " for \(end.components.seconds) s")
            }
            guard time >= reports else { return }
            reports = time * 6
            let what = "has not returned from \(function) for \(time.components.seconds) s"
            guard let tell = limits.tell else { return component.logMisuse(what) }
            tell("\(component) \(what)")
        }
    }
}
