import Foundation
import TestSupport

/// A client that speaks the NATS protocol itself, for requests that the transport does not make.
final class RawClient {
    private let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = Listening.address(port)
        let isConnected = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw TestFailure("no connection to port \(port): error \(errno)") }
        try send("CONNECT {\"verbose\":false,\"headers\":true}\r\nSUB answers 1\r\n")
    }

    deinit { close(descriptor) }

    /// Sends a request, and returns everything up to its answer.
    func ask(_ subject: String, _ content: String) throws -> String {
        try send("PUB \(subject) answers \(content.utf8.count)\r\n\(content)\r\nPING\r\n")
        var text = ""
        var bytes = [UInt8](repeating: 0, count: 65536)
        while !text.contains("MSG answers") || !text.hasSuffix("}\r\n") {
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { throw TestFailure("the server ended the connection: \(text)") }
            text += String(decoding: bytes[..<count], as: UTF8.self).replacing("PONG\r\n", with: "")
        }
        return text
    }

    private func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw TestFailure("not sent: error \(errno)")
        }
    }
}
