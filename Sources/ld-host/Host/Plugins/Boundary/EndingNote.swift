internal import CLinux
internal import Glibc
internal import HostGround
internal import LocalDataAPI
internal import Synchronization

/// Lets a program outlive the components that it calls: the calls are made in a child, which begins again without the
/// component that ended it.
///
/// A call that ends the child is noted in memory that both share, which a handler of a signal can write to.
package enum EndingNote {
    /// Four texts of this size: the component, what it did, the function, more about it.
    private static let size = 4096
    nonisolated(unsafe) private static var page: UnsafeMutableRawPointer?
    /// What ended earlier children, by component.
    private static let ended = Mutex<[(component: String, what: String)]>([])

    /// Runs `body` in a child. Where a component ends it, another child does so without this component. Call it while
    /// the process has one thread.
    ///
    /// - Returns: The status of the child that came to an end by itself. If a signal has ended it otherwise, the same
    ///   signal ends this process.
    package static func surviving(_ body: () -> Int32) -> Int32 {
        let found = mmap(nil, 4 * size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        guard let page = found, page != MAP_FAILED else { return body() }
        self.page = page
        // Each child does without what has ended the ones before.
        for _ in 0..<64 {
            page.initializeMemory(as: UInt8.self, repeating: 0, count: 4 * size)
            let child = ld_linux_fork()
            guard child >= 0 else { break }
            if child == 0 {
                ld_linux_end_with_parent()
                ExitGuard.follow()
                let status = body()
                ExitGuard.end(status)
            }
            let status = wait(for: child)
            let component = text(0)
            if !component.isEmpty {
                let what = text(1) + text(2) + text(3)
                ended.withLock { $0.append((component, what)) }
                continue
            }
            guard status & 0x7F == 0 else { end(bySignal: status & 0x7F) }
            return status >> 8 & 0xFF
        }
        self.page = nil
        return body()
    }

    /// - Throws: `pluginRefused` if a call of the component has ended an earlier child.
    static func requireSound(_ component: ComponentIdentity) throws(StorageError) {
        let name = PrintableText.escaped("\(component)")
        guard let found = ended.withLock({ $0.first { $0.component == name } }) else { return }
        throw StorageError(
            .pluginRefused, "\(found.component)\(found.what)", hint: "report this to the plugin's author")
    }

    /// Notes a call that ends this process: its component, what it did, in which function, and more. Takes no lock and
    /// no memory.
    ///
    /// - Returns: Whether there is a parent that wants to know.
    static func write(
        _ component: UnsafePointer<CChar>?, _ what: UnsafePointer<UInt8>, _ function: UnsafePointer<UInt8>?,
        _ more: UnsafePointer<CChar>?
    ) -> Bool {
        guard let page, let component else { return false }
        copy(UnsafeRawPointer(more), to: page + 3 * size)
        copy(UnsafeRawPointer(function), to: page + 2 * size)
        copy(UnsafeRawPointer(what), to: page + size)
        copy(UnsafeRawPointer(component), to: page)
        return true
    }

    private static func copy(_ text: UnsafeRawPointer?, to place: UnsafeMutableRawPointer) {
        guard let text else { return }
        strncpy(
            place.assumingMemoryBound(to: CChar.self), text.assumingMemoryBound(to: CChar.self), size - 1)
    }

    private static func text(_ index: Int) -> String {
        page.map { String(cString: ($0 + index * size).assumingMemoryBound(to: CChar.self)) } ?? ""
    }

    private static func wait(for child: pid_t) -> Int32 {
        // The child decides what Ctrl-C means.
        let former = signal(SIGINT, SIG_IGN)
        defer { _ = signal(SIGINT, former) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return status
    }

    private static func end(bySignal number: Int32) -> Never {
        signal(number, SIG_DFL)
        raise(number)
        ExitGuard.end(128 + number)
    }
}
