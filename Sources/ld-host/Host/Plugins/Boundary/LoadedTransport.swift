package import CLocalData
package import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// An open sync transport of some plugin: the import side of the boundary.
///
/// Every call runs on the calling thread and may wait for the network, except ``cancel()``: make them on threads that
/// may wait. Many may run at once.
package final class LoadedTransport: Sendable {
    /// The most bytes of one record's content.
    package let largestRecord: Int
    /// The transport's own table, copied: for checks that need calls without the host's corrections.
    package let table: ld_sync
    /// The component's id, for errors.
    package var component: String { identity.component }
    private let identity: ComponentIdentity

    /// Takes over an open transport's table.
    ///
    /// - Throws: `pluginRefused` with the component and the invalid part of its table.
    init(table pointer: UnsafeRawPointer?, _ identity: ComponentIdentity) throws(StorageError) {
        func refused(_ what: String) -> StorageError {
            StorageError(
                .pluginRefused, "component '\(identity.component)' opened a sync transport \(what)",
                hint: "build the plugin against the header of ABI major \(LD_ABI_MAJOR)")
        }
        var table = ld_sync()
        guard BoundaryStruct.copy(pointer, into: &table, least: ld_sync_least_size) else {
            throw refused(
                "whose table has \(BoundaryStruct.size(pointer)) bytes; "
                    + "expected \(BoundaryStruct.sizes(least: ld_sync_least_size))")
        }
        let functions: [(String, Bool)] = [
            ("publish", table.publish != nil), ("remove", table.remove != nil), ("fetch", table.fetch != nil),
            ("subscribe", table.subscribe != nil), ("unsubscribe", table.unsubscribe != nil),
            ("cancel", table.cancel != nil),
        ]
        if let missing = functions.first(where: { !$0.1 }) { throw refused("without the function '\(missing.0)'") }
        guard table.largest_record >= UInt64(SyncRecord.leastLargest) else {
            throw refused(
                "whose largest record has \(table.largest_record) bytes; expected at least \(SyncRecord.leastLargest)")
        }
        self.table = table
        self.identity = identity
        largestRecord = min(Int(clamping: table.largest_record), ld_bytes.largest)
    }

    /// Removes records of a writer, which no fetch needs to give any more; absent ones are fine.
    package func remove(_ names: [String], of writer: String) throws(StorageError) {
        try check(writer)
        for name in names { try check(name) }
        for part in stride(from: 0, to: names.count, by: SyncRecord.mostInOneCall) {
            let list = LentNames(names[part..<min(part + SyncRecord.mostInOneCall, names.count)])
            _ = try site("remove").call(.computed) { error in
                writer.withBytes { writer in
                    list.withBytes { table.remove(table.`self`, writer, $0.baseAddress, $0.count, error) }
                }
            }
        }
    }

    /// Calls `notify` on any thread whenever there may be something new to fetch, and when reachability changes. It
    /// must not wait, and must not call the transport.
    ///
    /// - Returns: The subscription; it runs until it is passed to ``unsubscribe(_:)``.
    package func subscribe(
        _ notify: @escaping @Sendable (SyncNotice) -> Void
    ) throws(StorageError) -> TransportSubscription {
        let listener = NoticeListener(identity, notify)
        var token: UnsafeMutableRawPointer?
        do throws(StorageError) {
            _ = try site("subscribe").call(.computed) { error in
                var subscriber = ld_sync_subscriber(
                    size: UInt32(MemoryLayout<ld_sync_subscriber>.size), context: listener.context,
                    notify: takeNotice)
                return table.subscribe(table.`self`, &subscriber, &token, error)
            }
        } catch {
            listener.end()
            throw error
        }
        return TransportSubscription(token: token, listener: listener)
    }

    /// Ends a subscription; when it returns, `notify` is not running and will not run again. Nothing happens if it has
    /// ended.
    package func unsubscribe(_ subscription: TransportSubscription) {
        guard subscription.end() else { return }
        site("unsubscribe").plain { table.unsubscribe(table.`self`, subscription.token) }
        subscription.listener.end()
    }

    /// Asks all calls that wait for the other side to return soon, with `cancelled`. Never waits.
    package func cancel() { site("cancel").plain { table.cancel(table.`self`) } }

    /// Closes the transport. Only for callers that know that no call is in flight and no subscription runs.
    package func close() { site("close").plain { table.close?(table.`self`) } }

    /// A call of one of its functions.
    func site(_ function: StaticString) -> CallSite { identity.site(function) }

    /// - Throws: `invalidAddress` for a writer or a name that no record can have.
    private func check(_ name: String) throws(StorageError) {
        guard SyncRecord.isUsable(name.utf8) else {
            throw StorageError(
                .invalidAddress,
                "'\(name)' is not a valid name of a writer or record; "
                    + "expected 1 to \(SyncRecord.longestName) lower case letters, digits and '-'")
        }
    }
}

extension LoadedTransport {
    /// Publishes records of one writer, in order, durably: all of them, or the first ones if it throws. To publish one
    /// again does no harm.
    ///
    /// - Throws: `valueTooLarge` for content above ``largestRecord``, before anything is published; what the transport
    ///   reports, such as `storeUnavailable` or `durabilityUnknown`.
    package func publish(_ records: [SyncRecord]) throws(StorageError) {
        for record in records { try check(record, records[0].writer) }
        var next = 0
        while next < records.count {
            let end = Self.end(of: records, from: next)
            let list = LentRecords(records[next..<end])
            _ = try site("publish").call(.computed) { error in
                list.withPointers { table.publish(table.`self`, $0.baseAddress, $0.count, error) }
            }
            next = end
        }
    }

    private func check(_ record: SyncRecord, _ writer: String) throws(StorageError) {
        try check(record.writer)
        try check(record.name)
        guard record.writer == writer else {
            throw StorageError(
                .invalidAddress, "records of two writers cannot be published at once: '\(writer)', '\(record.writer)'")
        }
        guard record.content.count <= largestRecord else {
            throw StorageError(
                .valueTooLarge,
                "a record has \(record.content.count) bytes; the transport '\(component)' carries at most "
                    + "\(largestRecord)",
                hint: "choose a transport for large records with: ld-host config set sync.transport ID")
        }
    }

    /// The end of the records that go into one call: the limit of a call, and no more content than is copied at once.
    private static func end(of records: [SyncRecord], from start: Int) -> Int {
        var (end, bytes) = (start, 0)
        while end < records.count, end - start < SyncRecord.mostInOneCall {
            bytes += records[end].content.count
            if end > start, bytes > mostContent { break }
            end += 1
        }
        return end
    }

    private static let mostContent = 8 << 20
}

extension LoadedTransport {
    /// Passes records that were published after a position to `take`, until there are no more, `count` have been
    /// passed, or `take` returns `false`.
    ///
    /// - Parameters:
    ///   - position: What an earlier call returned; `nil`: from the beginning.
    ///   - count: The most records to pass, at least 1.
    /// - Returns: The position behind the last record that was passed.
    /// - Throws: `positionLost` if the transport cannot resume from the position; `corrupt` if it breaks a rule of the
    ///   boundary. Records that were passed before stay valid.
    package func fetch(
        since position: Data?, atMost count: Int = .max, _ take: (SyncRecord) -> Bool
    ) throws(StorageError) -> Data {
        let outcome: Result<Data, StorageError> = withoutActuallyEscaping(take) { take in
            var taker = RecordTaker(largest: largestRecord, limit: max(1, count), take: take)
            return Result { () throws(StorageError) in
                try (position ?? Data()).withBuffer { (since) throws(StorageError) in
                    _ = try site("fetch").receiving(.records, &taker, .computed) { fetch(since, $0) }
                }
                guard let position = taker.position else {
                    throw site("fetch").violation("it succeeded but did not write the position", code: .unknown)
                }
                return position
            }
        }
        return try outcome.get()
    }

    private func fetch(_ since: UnsafeRawBufferPointer, _ slot: UnsafeMutablePointer<CallSlot>) -> Int32 {
        let status = table.fetch(
            table.`self`, ld_bytes(since), slot.pointee.number, takeRecord, slot.pointee.sink, slot.pointee.error)
        if status == LD_STOPPED {
            slot.pointee.reportViolation("it returned LD_STOPPED; expected LD_OK with a position")
        }
        return status
    }
}

/// What a fetch writes to.
private struct RecordTaker {
    let largest: Int
    /// The most records that may still come.
    var limit: Int
    let take: (SyncRecord) -> Bool
    private(set) var position: Data?

    init(largest: Int, limit: Int, take: @escaping (SyncRecord) -> Bool) {
        (self.largest, self.limit, self.take) = (largest, limit, take)
    }

    mutating func take(_ pointer: UnsafePointer<ld_sync_record>?) -> PieceVerdict {
        guard position == nil else { return .broken("it passed a record after the position") }
        guard limit > 0 else { return .broken("it passed a record after it was asked to stop") }
        let record: SyncRecord
        do throws(StorageError) { record = try SyncRecord(boundary: pointer) } catch { return .broken(error.message) }
        guard record.content.count <= largest else {
            return .broken("it passed a record of \(record.content.count) bytes; its own limit is \(largest)")
        }
        limit -= 1
        if !take(record) { limit = 0 }
        return limit > 0 ? .more : .enough
    }

    /// Takes the position; returns the rule that is broken.
    mutating func takePosition(_ bytes: ld_bytes) -> String? {
        guard position == nil else { return "it wrote two positions" }
        let longest = SyncRecord.longestPosition
        guard bytes.count != 0 else { return "it wrote an empty position" }
        guard (1...longest).contains(bytes.count), let checked = bytes.checked else {
            return "it wrote a position of \(bytes.flaw(atMost: longest))"
        }
        position = Data(checked)
        return nil
    }
}

private func takeRecord(context: UnsafeMutableRawPointer?, record: UnsafePointer<ld_sync_record>?) -> Int32 {
    guard let slot = CallSlot.running(context, .records), let taker = slot.pointee.receiver, !slot.pointee.wasStopped
    else { return 1 }
    switch taker.assumingMemoryBound(to: RecordTaker.self).pointee.take(record) {
    case .more: return 0
    case .enough: return 1
    case .broken(let what): slot.pointee.reportViolation(what)
    }
    return 1
}

func takePosition(context: UnsafeMutableRawPointer?, bytes: ld_bytes) -> Int32 {
    guard let slot = CallSlot.running(context, .records), let taker = slot.pointee.receiver else { return 1 }
    guard let flaw = taker.assumingMemoryBound(to: RecordTaker.self).pointee.takePosition(bytes) else { return 0 }
    slot.pointee.reportViolation(flaw)
    return 1
}
