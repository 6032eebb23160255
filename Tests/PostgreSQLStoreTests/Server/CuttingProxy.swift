import Foundation
import Glibc
import Synchronization
import TestSupport

/// A proxy for a server, which cuts connections at a chosen byte, or loses chosen or random answers.
final class CuttingProxy: Sendable {
    /// How connections are cut.
    struct Cut: Sendable {
        /// The number of bytes, in both directions together, after which all connections are cut.
        var after: Int
        /// The number of later connections to refuse.
        var refusals: Int
        /// How long the server still receives the client's data and does not notice the cut, in milliseconds.
        var lingers: Int32
    }

    /// A request that has chosen bytes, such as a value, and is in trouble once.
    struct Trap: Sendable {
        enum Loss {
            /// The server receives nothing of it.
            case request
            /// The server has answered it, and the client learns nothing of it.
            case answer
            /// Like `answer`, and the client's connection stays open until the client gives up.
            case silence
        }

        let bytes: [UInt8]
        let loss: Loss
        /// What happens before the client notices.
        let meanwhile: @Sendable () -> Void
    }

    private struct State {
        var cut: Cut?
        var trap: Trap?
        /// How many of a thousand answers are lost, and how many were.
        var (rate, losses) = (0, 0)
        var generator = SeededGenerator(seed: TestRun.seed)
        var passed = 0
        var refusals = 0
        var isEnded = false
    }

    let port: Int
    private let server: Int
    private let listening: Listening
    private let state = Mutex(State())

    init(before server: Int) throws {
        self.server = server
        listening = try Listening()
        port = listening.port
        try Self.startThread { [weak self, descriptor = listening.descriptor] in
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0, let self, !self.state.withLock({ $0.isEnded }) else { return }
                self.serve(client)
            }
        }
    }

    /// Ends the proxy; open connections stay until one of their sides ends.
    func end() {
        state.withLock { $0.isEnded = true }
        shutdown(listening.descriptor, Int32(SHUT_RDWR))
    }

    /// Cuts connections once, as described; bytes count from now on.
    func arm(_ cut: Cut?) {
        state.withLock { state in
            state.cut = cut
            state.passed = 0
            state.refusals = 0
        }
    }

    /// Loses a request, or its answer, once.
    func lose(_ loss: Trap.Loss, of text: String, meanwhile: @escaping @Sendable () -> Void) {
        state.withLock { $0.trap = Trap(bytes: Array(text.utf8), loss: loss, meanwhile: meanwhile) }
    }

    /// Whether no request had the bytes of ``lose(_:of:meanwhile:)`` so far.
    var isArmed: Bool { state.withLock { $0.trap != nil } }

    /// Loses so many of a thousand answers from now on, each of a server that is in no transaction any more.
    func loseAnswers(perThousand rate: Int) { state.withLock { $0.rate = rate } }

    /// How many random answers were lost.
    var losses: Int { state.withLock { $0.losses } }

    private func serve(_ client: Int32) {
        let isRefused = state.withLock { state in
            guard state.refusals > 0 else { return false }
            state.refusals -= 1
            return true
        }
        guard !isRefused, let upstream = Self.connect(to: server) else {
            close(client)
            return
        }
        do { try Self.startThread { self.pass(client, upstream) } } catch { close(client) }
    }

    /// Passes bytes until a side ends or the cut happens.
    private func pass(_ client: Int32, _ upstream: Int32) {
        var entries = [client, upstream].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var (request, trap) = ([UInt8](), Trap?.none)
        while true {
            poll(&entries, 2, -1)
            for (from, to) in [(0, upstream), (1, client)] where entries[from].revents != 0 {
                let count = read(entries[from].fd, &buffer, buffer.count)
                guard count > 0 else { return Self.end(client, upstream) }
                if from == 0 {
                    trap = trap ?? take(&request, buffer[..<count])
                    if let trap, trap.loss == .request {
                        trap.meanwhile()
                        return Self.end(client, upstream)
                    }
                } else if let trap {
                    // The server sends the end of its answer when it has committed.
                    guard Self.isEnd(buffer[..<count]) else { continue }
                    return spring(trap, client, upstream)
                } else if losesAnswer(buffer[..<count]) {
                    return Self.end(client, upstream)
                }
                let (allowed, cut) = permit(count)
                Self.send(buffer[..<allowed], to: to)
                if let cut { return lose(client, upstream, cut, rest: from == 0 ? buffer[allowed..<count] : []) }
            }
        }
    }

    /// The trap, if a client's data completes its bytes.
    private func take(_ request: inout [UInt8], _ data: ArraySlice<UInt8>) -> Trap? {
        state.withLock { state in
            guard let trap = state.trap else { return nil }
            request += data
            defer { request = request.suffix(trap.bytes.count - 1) }
            guard request.firstRange(of: trap.bytes) != nil else { return nil }
            state.trap = nil
            return trap
        }
    }

    private func spring(_ trap: Trap, _ client: Int32, _ upstream: Int32) {
        trap.meanwhile()
        var byte: UInt8 = 0
        if trap.loss == .silence { while read(client, &byte, 1) > 0 {} }
        Self.end(client, upstream)
    }

    private func losesAnswer(_ data: ArraySlice<UInt8>) -> Bool {
        state.withLock { state in
            guard state.rate > 0, Self.isEnd(data), data.last == UInt8(ascii: "I"),
                Int.random(in: 0..<1000, using: &state.generator) < state.rate
            else { return false }
            state.losses += 1
            return true
        }
    }

    /// Whether a server's data ends with the message that it is ready for the next request.
    private static func isEnd(_ data: ArraySlice<UInt8>) -> Bool {
        data.suffix(6).dropLast().elementsEqual([UInt8(ascii: "Z"), 0, 0, 0, 5])
    }

    /// How many of some bytes may pass, and the cut if it happens now.
    private func permit(_ count: Int) -> (Int, Cut?) {
        state.withLock { state in
            guard let cut = state.cut else { return (count, nil) }
            let allowed = min(count, cut.after - state.passed)
            state.passed += allowed
            guard state.passed >= cut.after else { return (count, nil) }
            state.cut = nil
            state.refusals = cut.refusals
            return (allowed, cut)
        }
    }

    private func lose(_ client: Int32, _ upstream: Int32, _ cut: Cut, rest: ArraySlice<UInt8>) {
        close(client)
        if cut.lingers > 0 {
            // Delivers late the data that the network had accepted.
            usleep(UInt32(cut.lingers) * 1000)
            Self.send(rest, to: upstream)
            usleep(UInt32(cut.lingers) * 1000)
        }
        close(upstream)
    }

    private static func send(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) {
        bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Glibc.send(
                    descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
                guard count > 0 else { return }
                sent += count
            }
        }
    }

    private static func end(_ client: Int32, _ upstream: Int32) {
        close(client)
        close(upstream)
    }

    private static func connect(to port: Int) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = Listening.address(port)
        let isConnected = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if isConnected { return descriptor }
        close(descriptor)
        return nil
    }

    private static func startThread(_ body: @escaping @Sendable () -> Void) throws {
        final class Work {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(Work(body)).toOpaque()
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, argument)
        guard code == 0 else { throw TestFailure("no thread: \(code)") }
        pthread_detach(thread)
    }
}
