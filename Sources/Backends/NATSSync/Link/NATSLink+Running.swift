internal import CNATS
internal import Glibc
internal import LocalDataPluginAPI
internal import ServerAccess
internal import Synchronization

// The link's thread.
extension NATSLink {
    /// How many threads of links are running, so that those that hang while they connect do not pile up.
    private static let running = Atomic<Int>(0)
    private static let mostRunning = 16

    func start() throws(StorageError) {
        guard Self.running.add(1, ordering: .relaxed).newValue <= Self.mostRunning else {
            Self.running.subtract(1, ordering: .relaxed)
            throw StorageError(
                .storeUnavailable,
                "\(Self.mostRunning) earlier connections, such as to \(options.hosts), have neither succeeded nor failed",
                hint: "check that the server answers, then try again")
        }
        let code = DetachedThread.start { self.run() }
        guard code == 0 else {
            Self.running.subtract(1, ordering: .relaxed)
            throw StorageError(.storeUnavailable, "no thread that connects can be created: error \(code)")
        }
    }

    private func run() {
        defer { Self.running.subtract(1, ordering: .relaxed) }
        let connection = NATSConnection { [self] socket in state.withLock { $0.socket = socket } }
        defer { connection.close() }
        do throws(StorageError) { try connection.open(options) } catch { return finish(error) }
        let waiting = state.withLock { state -> [LinkCall] in
            guard case .connecting = state.phase else { return [] }
            state.phase = .open
            state.server = connection.server
            defer { state.waiting = [] }
            return state.waiting
        }
        for call in waiting { call.put(.opened) }
        while isUsable, connection.isOpen {
            wait(connection)
            guard send(connection) else { break }
        }
        finish(connection.loss)
    }

    /// Waits for the socket or for a command, and lets the library read and write.
    private func wait(_ connection: NATSConnection) {
        let events = connection.wantsToWrite ? POLLIN | POLLOUT : POLLIN
        var entries = [
            pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            pollfd(fd: connection.socket, events: Int16(events), revents: 0),
        ]
        poll(&entries, 2, -1)
        if entries[0].revents != 0 {
            var count: UInt64 = 0
            _ = read(wake, &count, MemoryLayout.size(ofValue: count))
        }
        let ready = Int32(entries[1].revents)
        if ready & ~POLLOUT != 0 {
            connection.read()
            if let refusal = connection.refusal {
                let calls = state.withLock { Array($0.calls.values) }
                for call in calls { call.refuse(refusal, connection.server.name) }
            }
        }
        if ready & POLLOUT != 0 { connection.write() }
    }

    /// Gives the library what callers want to send, as long as it does not hold too much; `false` if that failed.
    private func send(_ connection: NATSConnection) -> Bool {
        while connection.buffered < NATSConnection.mostBuffered {
            let commands = state.withLock { state in
                defer { state.commands.removeFirst(min(64, state.commands.count)) }
                return state.commands.prefix(64)
            }
            if commands.isEmpty { break }
            for command in commands where !perform(command, connection) { return false }
        }
        return true
    }

    private func perform(_ command: Command, _ connection: NATSConnection) -> Bool {
        switch command {
        case .attach(let call): connection.subscribe(call, subscription(of: call))
        case .detach(let call): connection.unsubscribe(call)
        case .send(let message, let call): connection.send(message, of: call)
        }
    }
}
