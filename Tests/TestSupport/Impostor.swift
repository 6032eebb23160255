import Glibc
import Synchronization

/// A program that listens where a PostgreSQL server could, and asks each client for a password.
package final class Impostor: Sendable {
    /// The code of a request for authentication, with what follows it.
    package enum Method: String, CaseIterable, Sendable {
        case clear, md5, scram

        fileprivate var request: [UInt8] {
            let body: [UInt8] =
                switch self {
                case .clear: [0, 0, 0, 3]
                case .md5: [0, 0, 0, 5] + Array("salt".utf8)
                case .scram: [0, 0, 0, 10] + Array("SCRAM-SHA-256".utf8) + [0, 0]
                }
            return [UInt8(ascii: "R"), 0, 0, 0, UInt8(4 + body.count)] + body
        }
    }

    private let descriptor: Int32
    private let method: Method
    private let received = Mutex<(clients: Int, answers: [String])>((0, []))

    /// What clients answered to the request for a password.
    package var answers: [String] { received.withLock { $0.answers } }

    /// How many clients were asked for a password.
    package var clients: Int { received.withLock { $0.clients } }

    /// - Parameter descriptor: A listening socket that stays open as long as this object lives.
    private init(_ descriptor: Int32, _ method: Method) {
        (self.descriptor, self.method) = (descriptor, method)
    }

    /// Serves clients of a listening socket until that is shut down.
    package static func start(_ descriptor: Int32, _ method: Method) throws -> Impostor {
        let impostor = Impostor(descriptor, method)
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(impostor).toOpaque()
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Impostor>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, argument)
        guard code == 0 else { throw TestFailure("no thread: \(code)") }
        pthread_detach(thread)
        return impostor
    }

    /// Ends the thread.
    package func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private func run() {
        while true {
            let client = accept(descriptor, nil, nil)
            guard client >= 0 else { return }
            serve(client)
            close(client)
        }
    }

    private func serve(_ client: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(client, &buffer, buffer.count)
            guard count >= 8 else { return }
            // Requests for TLS (80877103) and for GSSAPI begin so; there is neither.
            guard count == 8, buffer[4] == 0x04, buffer[5] == 0xd2 else { break }
            guard write(client, "N", 1) == 1 else { return }
        }
        let request = method.request
        guard write(client, request, request.count) == request.count else { return }
        received.withLock { $0.clients += 1 }
        let count = read(client, &buffer, buffer.count)
        guard count > 0 else { return }
        received.withLock { $0.answers.append(String(decoding: buffer[..<count], as: UTF8.self)) }
    }
}
