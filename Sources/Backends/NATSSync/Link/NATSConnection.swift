internal import CNATS
internal import FoundationEssentials
internal import Glibc
internal import LocalDataPluginAPI

/// A connection of the library, driven from outside as by an event loop. One thread uses it.
///
/// The library's own threads are not used: they read and write one TLS session at the same time, which OpenSSL
/// forbids, and write to a socket without a limit in time.
final class NATSConnection {
    /// How many bytes the library holds for the socket at most, before it gets no more.
    static let mostBuffered = 1 << 20

    private(set) var server = NATSLink.Server()
    private(set) var wantsToWrite = false
    private(set) var socket: Int32 = -1
    private var connection: OpaquePointer?
    private var subscriptions: [UInt64: (subscription: OpaquePointer, call: LinkCall)] = [:]
    private var failure = ""
    private let socketChanged: (Int32) -> Void

    /// - Parameter socketChanged: Gets the socket, and -1 before the library closes it.
    init(socketChanged: @escaping (Int32) -> Void) { self.socketChanged = socketChanged }

    /// Connects to the first server that accepts it.
    func open(_ options: NATSOptions) throws(StorageError) {
        var failures: [StorageError] = []
        for address in options.servers {
            do throws(StorageError) {
                connection = try address.connect(options, loop: Unmanaged.passUnretained(self).toOpaque())
                server = NATSLink.Server(
                    name: address.name, largestMessage: Int(clamping: natsConnection_GetMaxPayload(connection)))
                return
            } catch { failures.append(error) }
        }
        guard let last = failures.last else { throw StorageError(.storeUnavailable, "there is no server") }
        throw StorageError(last.code, failures.map(\.message).joined(separator: "; "), hint: last.hint)
    }

    var isOpen: Bool { connection != nil && !natsConnection_IsClosed(connection) }

    /// How many bytes the library holds for the socket.
    var buffered: Int { Int(natsConnection_Buffered(connection)) }

    /// Why the connection is over.
    var loss: StorageError {
        let text = failure.isEmpty ? lastError.text : failure
        let isDenied = text.lowercased().contains("authori") || text.lowercased().contains("authenti")
        return StorageError(
            isDenied ? .permissionDenied : .storeUnavailable,
            "the connection to the server at \(server.name) was lost" + (text.isEmpty ? "" : ": \(text)"),
            hint: isDenied
                ? "check the user and the file with its secret" : "check that the server runs, then try again")
    }

    /// The server's last refusal of a subject, with its name; `nil` if there was no such refusal.
    var refusal: String? {
        let (status, text) = lastError
        return status == NATS_NOT_PERMITTED ? text : nil
    }

    private var lastError: (natsStatus, text: String) {
        var text: UnsafePointer<CChar>?
        let status = natsConnection_GetLastError(connection, &text)
        return (status, text.map { String(cString: $0) } ?? "")
    }

    /// Lets the library read what has arrived, and gives it to the calls.
    func read() {
        natsConnection_ProcessReadEvent(connection)
        for (subscription, call) in subscriptions.values {
            var count: UInt64 = 0
            while natsSubscription_QueuedMsgs(subscription, &count) == NATS_OK, count > 0 {
                var message: OpaquePointer?
                let status = natsSubscription_NextMsg(&message, subscription, 1)
                if status == NATS_NO_RESPONDERS {
                    call.put(.noResponder)
                    continue
                }
                guard status == NATS_OK, let message else { break }
                call.put(Message(message))
                natsMsg_Destroy(message)
            }
        }
    }

    /// Lets the library write what it holds.
    func write() { natsConnection_ProcessWriteEvent(connection) }

    func subscribe(_ call: LinkCall, _ subject: String) -> Bool {
        var subscription: OpaquePointer?
        let status = natsConnection_SubscribeSync(&subscription, connection, subject)
        guard status == NATS_OK, let subscription else { return failed("subscribing", status) }
        // What a fetch asks for is limited by its request.
        natsSubscription_SetPendingLimits(subscription, -1, -1)
        subscriptions[call.number] = (subscription, call)
        return true
    }

    func unsubscribe(_ call: LinkCall) -> Bool {
        if let (subscription, _) = subscriptions.removeValue(forKey: call.number) {
            natsSubscription_Destroy(subscription)
        }
        return true
    }

    /// Gives a message to the library. If that fails, nothing may follow it.
    func send(_ outgoing: Outgoing, of call: LinkCall) -> Bool {
        var message: OpaquePointer?
        var status = outgoing.data.withUnsafeBytes { bytes in
            natsMsg_Create(
                &message, outgoing.subject, outgoing.reply, bytes.bindMemory(to: CChar.self).baseAddress,
                Int32(clamping: bytes.count))
        }
        for (name, value) in outgoing.headers where status == NATS_OK {
            status = natsMsgHeader_Set(message, name, value)
        }
        if status == NATS_OK { status = natsConnection_PublishMsg(connection, message) }
        natsMsg_Destroy(message)
        return status == NATS_OK || failed("sending to '\(outgoing.subject)'", status)
    }

    private func failed(_ work: String, _ status: natsStatus) -> Bool {
        failure = "\(work): \(natsStatus_GetText(status).map { String(cString: $0) } ?? "")"
        return false
    }

    /// Ends it.
    func close() {
        for (subscription, _) in subscriptions.values { natsSubscription_Destroy(subscription) }
        subscriptions = [:]
        // The library would wait for an answer to a last message, which nobody reads.
        if socket >= 0, wantsToWrite { _ = shutdown(socket, Int32(SHUT_RDWR)) }
        natsConnection_Destroy(connection)
        connection = nil
    }

    fileprivate func setSocket(_ socket: Int32) {
        self.socket = socket
        socketChanged(socket)
    }

    fileprivate func setWriting(_ wanted: Bool) { wantsToWrite = wanted }
}

// What the library calls, all of it on the thread that uses the connection.

private func connection(_ context: UnsafeMutableRawPointer?) -> NATSConnection? {
    context.map { Unmanaged<NATSConnection>.fromOpaque($0).takeUnretainedValue() }
}

func attachSocket(
    context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, loop: UnsafeMutableRawPointer?, _: OpaquePointer?,
    socket: Int32
) -> natsStatus {
    context?.pointee = loop
    connection(loop)?.setSocket(socket)
    return NATS_OK
}

func changeReading(context: UnsafeMutableRawPointer?, isWanted: Bool) -> natsStatus {
    if !isWanted { connection(context)?.setSocket(-1) }
    return NATS_OK
}

func changeWriting(context: UnsafeMutableRawPointer?, isWanted: Bool) -> natsStatus {
    connection(context)?.setWriting(isWanted)
    return NATS_OK
}

func detachSocket(context: UnsafeMutableRawPointer?) -> natsStatus { NATS_OK }
