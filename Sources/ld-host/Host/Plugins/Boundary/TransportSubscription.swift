internal import CLocalData
internal import LocalDataAPI
internal import Synchronization

/// A running subscription, ended by ``LoadedTransport/unsubscribe(_:)``.
package final class TransportSubscription: @unchecked Sendable {
    // The token is opaque to the host, and the boundary's rules let any thread pass it to the transport.
    let token: UnsafeMutableRawPointer?
    let listener: NoticeListener
    private let isOver = Atomic(false)

    init(token: UnsafeMutableRawPointer?, listener: NoticeListener) {
        self.token = token
        self.listener = listener
    }

    /// Whether this call ends it.
    func end() -> Bool { !isOver.exchange(true, ordering: .relaxed) }
}

/// Receives a transport's notices, on any thread until the subscription is ended.
final class NoticeListener: Sendable {
    private let number: UInt

    private static let listening = ListenerTable<@Sendable (SyncNotice) -> Void>()

    init(_ component: ComponentIdentity, _ notify: @escaping @Sendable (SyncNotice) -> Void) {
        number = Self.listening.add(notify, of: component)
    }

    /// The context for the transport; valid until ``end()``.
    var context: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }

    func end() { Self.listening.remove(number) }

    fileprivate static func take(_ context: UnsafeMutableRawPointer?, _ notice: Int32) {
        guard let notify = listening.find(context, else: "notified a subscriber after its subscription had ended")
        else { return }
        if let notice = SyncNotice(rawValue: notice) { return notify(notice) }
        ListenerNumber.component(of: UInt(bitPattern: context))?.logMisuse("gave the unknown notice \(notice)")
        // Whatever it means, there may be something new.
        notify(.changed)
    }
}

func takeNotice(context: UnsafeMutableRawPointer?, notice: Int32) { NoticeListener.take(context, notice) }

/// Records in the boundary's format, valid as long as this object. Their bytes are copied into one piece of memory.
final class LentRecords {
    private let bytes: UnsafeMutableRawBufferPointer
    private var records: [ld_sync_record] = []

    init(_ given: ArraySlice<SyncRecord>) {
        let count = given.reduce(0) { $0 + $1.writer.utf8.count + $1.name.utf8.count + $1.content.count }
        bytes = .allocate(byteCount: count, alignment: 1)
        records.reserveCapacity(given.count)
        var used = 0
        func keep(_ part: some Collection<UInt8>) -> ld_bytes {
            let copy = UnsafeMutableRawBufferPointer(rebasing: bytes[used..<used + part.count])
            copy.copyBytes(from: part)
            used += part.count
            return ld_bytes(UnsafeRawBufferPointer(copy))
        }
        for record in given {
            records.append(
                ld_sync_record(
                    size: UInt32(MemoryLayout<ld_sync_record>.size), reserved: 0, writer: keep(record.writer.utf8),
                    name: keep(record.name.utf8), content: keep(record.content)))
        }
    }

    deinit { bytes.deallocate() }

    func withPointers<Result>(_ body: (UnsafeBufferPointer<UnsafePointer<ld_sync_record>?>) -> Result) -> Result {
        records.withUnsafeBufferPointer { records in
            let pointers = (0..<records.count).map { index in records.baseAddress.map { $0 + index } }
            return pointers.withUnsafeBufferPointer { body($0) }
        }
    }
}

/// Names in the boundary's format, valid as long as this object.
final class LentNames {
    private let bytes: UnsafeMutableRawBufferPointer
    private var names: [ld_bytes] = []

    init(_ given: ArraySlice<String>) {
        bytes = .allocate(byteCount: given.reduce(0) { $0 + $1.utf8.count }, alignment: 1)
        names.reserveCapacity(given.count)
        var used = 0
        for name in given {
            let copy = UnsafeMutableRawBufferPointer(rebasing: bytes[used..<used + name.utf8.count])
            copy.copyBytes(from: name.utf8)
            used += copy.count
            names.append(ld_bytes(UnsafeRawBufferPointer(copy)))
        }
    }

    deinit { bytes.deallocate() }

    func withBytes<Result>(_ body: (UnsafeBufferPointer<ld_bytes>) -> Result) -> Result {
        names.withUnsafeBufferPointer { body($0) }
    }
}
