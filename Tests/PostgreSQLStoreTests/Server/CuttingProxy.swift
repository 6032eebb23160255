import Foundation
import Glibc
import Synchronization
import TestSupport

/// A proxy for a server, which cuts connections at a chosen byte.
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

    private struct State {
        var cut: Cut?
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
        while true {
            poll(&entries, 2, -1)
            for (from, to) in [(0, upstream), (1, client)] where entries[from].revents != 0 {
                let count = read(entries[from].fd, &buffer, buffer.count)
                guard count > 0 else { return Self.end(client, upstream) }
                let (allowed, cut) = permit(count)
                Self.send(buffer[..<allowed], to: to)
                if let cut { return lose(client, upstream, cut, rest: from == 0 ? buffer[allowed..<count] : []) }
            }
        }
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
