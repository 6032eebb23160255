import Foundation
import LocalDataAPI
import LocalDataHost
import Synchronization
import TestSupport

/// The built plugin, opened through the boundary as by a host, with a separate bucket.
struct OpenTransport: Sendable {
    static let plugin = BuiltProducts.plugin("NATSSync")
    let transport: LoadedTransport
    let bucket: String

    /// - Parameter bucket: `nil` for a new one.
    init(
        _ servers: String, bucket: String? = nil, _ options: [String: ComponentOption.Value] = [:],
        log: any StorageLogHandler = SilentLog()
    ) throws {
        self.bucket = bucket ?? Self.newBucket()
        let own: [String: ComponentOption.Value] = ["servers": .string(servers), "bucket": .string(self.bucket)]
        transport = try PluginImage.load(Self.plugin)
            .openTransport(
                "nats", options: options.merging(own) { given, _ in given }, folder: "/nonexistent", log: log)
    }

    static func newBucket() -> String { "b\(UInt64.random(in: 0 ... .max))" }

    /// Records of the writer `laptop` with numbers as names.
    static func records(_ numbers: Range<Int>, _ content: String = "") -> [SyncRecord] {
        numbers.map { SyncRecord(writer: "laptop", name: "n\($0)", content: Data("\(content)\($0)".utf8)) }
    }

    func publish(_ numbers: Range<Int>, _ content: String = "") throws {
        try transport.publish(Self.records(numbers, content))
    }

    func fetch(since position: Data? = nil) throws -> (records: [SyncRecord], position: Data) {
        var records: [SyncRecord] = []
        let position = try transport.fetch(since: position) {
            records.append($0)
            return true
        }
        return (records, position)
    }
}

/// Collects the log messages of a transport.
final class Warnings: StorageLogHandler {
    let level = StorageLogLevel.warning
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock { $0 } }

    func log(_ level: StorageLogLevel, label: String, _ message: String) { texts.withLock { $0.append(message) } }
}
