internal import CNATS
internal import Glibc
internal import LocalDataPluginAPI
internal import ServerAccess
internal import Synchronization

/// One connection, from its beginning to its end. A link that is lost never connects again: what was sent on it
/// arrives in order up to some point, and nothing behind that.
///
/// The library is called on a thread of the link's own only, which also drives the socket. So no caller waits for it,
/// however long it takes to look up a name, to shake hands, or to write to a server that does not read.
final class NATSLink: @unchecked Sendable {
    enum Phase {
        case connecting, open
        case over(StorageError)
    }

    enum Command {
        case attach(LinkCall)
        case detach(LinkCall)
        case send(Outgoing, LinkCall)
    }

    struct State {
        var phase = Phase.connecting
        /// Calls that wait until it is open.
        var waiting: [LinkCall] = []
        var calls: [UInt64: LinkCall] = [:]
        var commands: [Command] = []
        /// The socket while the library uses it, or -1.
        var socket: Int32 = -1
        var server = Server()
        var isPrepared = false
    }

    /// What is known of the server.
    struct Server {
        var name = ""
        /// The most bytes of a message, its headers included.
        var largestMessage = 0
    }

    let options: NATSOptions
    let state = Mutex(State())
    /// Readable when the thread has something to do; see eventfd(2).
    let wake = ld_nats_event()
    private let prefix = "_INBOX.localdata." + String(UInt64.random(in: 0 ... .max), radix: 36)
    private let patience: Deadline

    /// Starts to connect.
    ///
    /// - Throws: `storeUnavailable` if that needs too many threads or open files.
    init(_ options: NATSOptions) throws(StorageError) {
        self.options = options
        guard wake >= 0 else {
            throw StorageError(
                .storeUnavailable, "no event can be created that wakes the connection's thread",
                hint: "close files, or raise the limit of open files: ulimit -n")
        }
        patience = Deadline(seconds: options.timeout)
        try start()
    }

    deinit { close(wake) }

    /// Whether it is connected, or still may be in time.
    var isUsable: Bool {
        state.withLock {
            switch $0.phase {
            case .open: true
            case .connecting: !patience.isOver
            case .over: false
            }
        }
    }

    var server: Server { state.withLock(\.server) }

    /// Whether the stream has been checked on this link.
    var isPrepared: Bool {
        get { state.withLock(\.isPrepared) }
        set { state.withLock { $0.isPrepared = newValue } }
    }

    /// Waits until it is connected.
    ///
    /// - Throws: `storeUnavailable` or `permissionDenied` if that fails; what the call was ended with.
    func open(for call: LinkCall) throws(StorageError) {
        let isOpen = try state.withLock { state throws(StorageError) in
            switch state.phase {
            case .open: return true
            case .over(let error): throw error
            case .connecting:
                state.waiting.append(call)
                return false
            }
        }
        if isOpen { return try call.check() }
        guard try call.take(until: Deadline(seconds: options.timeout)) != nil else {
            state.withLock { $0.waiting.removeAll { $0 === call } }
            throw StorageError(
                .storeUnavailable,
                "the server at \(options.hosts) did not accept a connection within \(options.timeout) seconds",
                hint: "check that the server runs and can be reached, then try again")
        }
    }

    /// Lets a call receive messages on this link until it is detached. If the link is lost, the call fails.
    func attach(_ call: LinkCall) throws(StorageError) {
        call.note(subscription(of: call))
        try state.withLock { state throws(StorageError) in
            if case .over(let error) = state.phase { throw error }
            state.calls[call.number] = call
            state.commands.append(.attach(call))
        }
        rouse()
    }

    /// Ends what ``attach(_:)`` began.
    func detach(_ call: LinkCall) {
        state.withLock {
            $0.calls[call.number] = nil
            $0.commands.append(.detach(call))
        }
        rouse()
    }

    /// What an attached call subscribes to.
    func subscription(of call: LinkCall) -> String {
        call.isExact ? "\(prefix).\(call.number)" : "\(prefix).\(call.number).*"
    }

    /// The subject on which an attached call receives the answer of this number.
    func subject(of call: LinkCall, _ number: Int) -> String { "\(prefix).\(call.number).\(number)" }

    /// Sends messages of an attached call, in order, without waiting. If the link is lost, they may not arrive.
    func send(_ messages: [Outgoing], for call: LinkCall) {
        for message in messages where message.reply != nil { call.note(message.subject) }
        state.withLock { $0.commands.append(contentsOf: messages.map { .send($0, call) }) }
        rouse()
    }

    /// Ends it, without waiting; calls that wait fail.
    func end(_ error: StorageError) {
        finish(error)
        state.withLock { if $0.socket >= 0 { _ = shutdown($0.socket, Int32(SHUT_RDWR)) } }
        rouse()
    }

    /// Makes it unusable; calls that wait fail.
    func finish(_ error: StorageError) {
        let calls = state.withLock { state -> [LinkCall] in
            if case .over = state.phase { return [] }
            state.phase = .over(error)
            defer { (state.waiting, state.calls, state.commands) = ([], [:], []) }
            return state.waiting + state.calls.values
        }
        for call in calls { call.fail(error) }
    }

    private func rouse() {
        var one: UInt64 = 1
        _ = write(wake, &one, MemoryLayout.size(ofValue: one))
    }
}
