internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import Synchronization

extension TransportUnderTest {
    /// A thread that publishes, or fetches, over and over until it is ended.
    final class Working: Sendable {
        private let isOver = Flag()
        private let published = Mutex<(whole: [SyncRecord], cancelled: Set<SyncRecord>)>(([], []))
        private let worker = Mutex<Worker?>(nil)

        /// - Parameters:
        ///   - record: The record that a call publishes; `nil` for calls that publish nothing.
        ///   - body: The call.
        fileprivate init(
            _ record: @escaping @Sendable (Int) -> SyncRecord?, _ body: @escaping @Sendable (SyncRecord?) throws -> Void
        ) throws {
            let worker = try Worker { [self] in
                for number in 0... {
                    if isOver.isRaised { return }
                    let record = record(number)
                    do {
                        try body(record)
                        if let record { published.withLock { $0.whole.append(record) } }
                    } catch let error as StorageError where error.code == .cancelled {
                        if let record { published.withLock { _ = $0.cancelled.insert(record) } }
                    }
                    usleep(500)
                }
            }
            self.worker.withLock { $0 = worker }
        }

        /// Ends it and waits for some time.
        ///
        /// - Throws: A failure if it does not end; what its calls threw, apart from `cancelled`.
        func check(_ patience: Duration) throws {
            isOver.raise()
            guard let worker = worker.withLock({ $0 }) else { return }
            guard try worker.finishes(within: patience) else {
                throw ConformanceFailure("a call did not return within \(patience)")
            }
        }

        /// Ends it, and returns the records that were published, and those that may have been since their calls were
        /// cancelled.
        func result(_ patience: Duration) throws -> (whole: [SyncRecord], cancelled: Set<SyncRecord>) {
            try check(patience)
            return published.withLock { $0 }
        }

        /// Ends it.
        func end() {
            isOver.raise()
            try? worker.withLock { $0 }?.join()
        }
    }

    /// Publishes on another thread until the end.
    func publishing() throws -> Working {
        let writer = writer("busy")
        return try Working {
            SyncRecord(writer: writer, name: "n\($0)", content: Pattern.data(UInt64($0), 200))
        } _: { [self] in
            if let record = $0 { try publish([record]) }
        }
    }

    /// Fetches on another thread until the end.
    func fetching() throws -> Working {
        try Working {
            _ in
            nil
        } _: { [self] _ in
            _ = try fetch()
        }
    }
}
