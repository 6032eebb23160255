package import CLocalData

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A transport, as the functions of its table `ld_sync` find it behind the table's `self`.
final class SyncExport {
    let transport: any SyncTransport

    init(_ transport: any SyncTransport) { self.transport = transport }

    /// The table of this transport; it keeps the transport until `close`.
    var table: UnsafePointer<ld_sync> {
        .immortal(
            ld_sync(
                size: UInt32(MemoryLayout<ld_sync>.size), reserved: 0,
                largest_record: UInt64(clamping: transport.largestRecord),
                self: Unmanaged.passRetained(self).toOpaque(), publish: publishRecords,
                remove: removeRecords, fetch: fetchRecords, subscribe: beginSubscription,
                unsubscribe: endSubscription, cancel: cancelCalls, extension: transportExtension,
                close: closeTransport))
    }
}

extension SyncTransport {
    fileprivate func subscribed(
        _ notify: @escaping @Sendable (SyncNotice) -> Void
    ) throws -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(KeyBox(try subscribe(notify))).toOpaque()
    }

    fileprivate func unsubscribe(behind token: UnsafeMutableRawPointer) {
        unsubscribe(KeyBox<Subscription>.key(token))
        Unmanaged<KeyBox<Subscription>>.fromOpaque(token).release()
    }
}

// The C functions of an exported transport's table. They are at file scope, so that no isolation is inferred for them.

private func transport(_ context: UnsafeMutableRawPointer?) throws -> any SyncTransport {
    guard let context else { throw StorageError(.unsupported, "a transport was called without 'self'") }
    return Unmanaged<SyncExport>.fromOpaque(context).takeUnretainedValue().transport
}

func publishRecords(
    context: UnsafeMutableRawPointer?, records: UnsafePointer<UnsafePointer<ld_sync_record>?>?, count: Int,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let records, (1...SyncRecord.mostInOneCall).contains(count) else {
            throw StorageError(.unsupported, "publish was called with \(UInt(bitPattern: count)) records")
        }
        let list = try (0..<count).map { index throws(StorageError) in try SyncRecord(boundary: records[index]) }
        try transport(context).publish(list)
        return LD_OK
    }
}

func removeRecords(
    context: UnsafeMutableRawPointer?, writer: ld_bytes, names: UnsafePointer<ld_bytes>?, count: Int,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let names, (1...SyncRecord.mostInOneCall).contains(count) else {
            throw StorageError(.unsupported, "remove was called with \(UInt(bitPattern: count)) names")
        }
        let list = try (0..<count).map { index throws(StorageError) in
            try SyncRecord.checkedName(names[index], "record")
        }
        try transport(context).remove(list, of: SyncRecord.checkedName(writer, "writer"))
        return LD_OK
    }
}

func fetchRecords(
    context: UnsafeMutableRawPointer?, since: ld_bytes, taker: UnsafeMutableRawPointer?,
    take: (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<ld_sync_record>?) -> Int32)?,
    position: UnsafePointer<ld_sink>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let take, let position else {
            throw StorageError(.unsupported, "fetch was called without a function that takes records")
        }
        let since = since.count == 0 ? nil : Data(try since.bytes())
        let reached = try transport(context).fetch(since: since) { record in
            record.withBoundary { take(taker, $0) } == 0
        }
        return position.send(reached.bytes) ? LD_OK : LD_STOPPED
    }
}

func beginSubscription(
    context: UnsafeMutableRawPointer?, subscriber: UnsafePointer<ld_sync_subscriber>?,
    token: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        var known = ld_sync_subscriber()
        guard BoundaryStruct.copy(subscriber, into: &known, least: ld_sync_subscriber_least_size), let token else {
            throw StorageError(.unsupported, "subscribe was called without a subscriber")
        }
        let subscriber = known
        token.pointee = try transport(context).subscribed { notice in
            subscriber.notify?(subscriber.context, notice.rawValue)
        }
        return LD_OK
    }
}

func endSubscription(context: UnsafeMutableRawPointer?, token: UnsafeMutableRawPointer?) {
    if let token { try? transport(context).unsubscribe(behind: token) }
}

func cancelCalls(context: UnsafeMutableRawPointer?) { try? transport(context).cancel() }

func transportExtension(context: UnsafeMutableRawPointer?, id: ld_bytes) -> UnsafeRawPointer? { nil }

func closeTransport(context: UnsafeMutableRawPointer?) {
    if let context { Unmanaged<SyncExport>.fromOpaque(context).release() }
}

extension SyncRecord {
    /// The most records, or names, of one call at the boundary.
    package static var mostInOneCall: Int { 1024 }

    /// The most bytes of a writer and of a name.
    @inlinable public static var longestName: Int { 64 }

    /// The most bytes of a position.
    package static var longestPosition: Int { 4096 }

    /// What the largest record of every transport can hold, in bytes.
    package static var leastLargest: Int { 262_144 }

    /// Whether a writer or a name is 1 to 64 lower case letters, digits and `-`.
    @inlinable
    public static func isUsable(_ name: some Collection<UInt8>) -> Bool {
        (1...longestName).contains(name.count)
            && name.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// A writer or a name of the other side.
    ///
    /// - Parameter what: Whose name it is, for the error.
    /// - Throws: `corrupt` with what is impossible about it.
    package static func checkedName(_ bytes: ld_bytes, _ what: String) throws(StorageError) -> String {
        guard let checked = bytes.checked else {
            throw StorageError(.corrupt, "the name of a \(what) has \(bytes.flaw())")
        }
        guard isUsable(checked) else {
            throw StorageError(
                .corrupt,
                "the name of a \(what) is '\(String(decoding: checked.prefix(longestName), as: UTF8.self))' "
                    + "(\(checked.count) bytes); expected 1 to \(longestName) lower case letters, digits and '-'")
        }
        return String(decoding: checked, as: UTF8.self)
    }

    /// A record of the other side, copied.
    ///
    /// - Throws: `corrupt` with what is impossible about it.
    package init(boundary pointer: UnsafePointer<ld_sync_record>?) throws(StorageError) {
        var record = ld_sync_record()
        guard BoundaryStruct.copy(pointer, into: &record, least: ld_sync_record_least_size) else {
            throw StorageError(
                .corrupt,
                "the struct of a record has \(BoundaryStruct.size(pointer)) bytes; "
                    + "expected \(BoundaryStruct.sizes(least: ld_sync_record_least_size))")
        }
        guard let content = record.content.checked else {
            throw StorageError(.corrupt, "the content of a record has \(record.content.flaw())")
        }
        self.init(
            writer: try Self.checkedName(record.writer, "writer"), name: try Self.checkedName(record.name, "record"),
            content: Data(content))
    }

    /// Lends the record in the boundary's format for the duration of `body`.
    package func withBoundary<Result>(_ body: (UnsafePointer<ld_sync_record>) -> Result) -> Result {
        writer.withBytes { writer in
            name.withBytes { name in
                content.withUnsafeBytes { content in
                    var record = ld_sync_record(
                        size: UInt32(MemoryLayout<ld_sync_record>.size), reserved: 0, writer: writer, name: name,
                        content: ld_bytes(data: content.baseAddress, count: content.count))
                    return body(&record)
                }
            }
        }
    }
}
