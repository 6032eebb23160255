internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import Synchronization

extension TransportUnderTest {
    /// A thread that publishes, or fetches, over and over until it is ended.
    final class Working: Sendable {
        private let isOver = Flag()
        private let published = Mutex<[SyncRecord]>([])
        private let worker = Mutex<Worker?>(nil)

        fileprivate init(_ body: @escaping @Sendable (Int) throws -> SyncRecord?) throws {
            let worker = try Worker { [self] in
                for number in 0... {
                    if isOver.isRaised { return }
                    do {
                        if let record = try body(number) { published.withLock { $0.append(record) } }
                    } catch let error as StorageError where error.code == .cancelled {}
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

        /// Ends it, and returns the records that were published.
        func result(_ patience: Duration) throws -> [SyncRecord] {
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
        return try Working { [self] number in
            let record = SyncRecord(writer: writer, name: "n\(number)", content: Pattern.data(UInt64(number), 200))
            try publish([record])
            return record
        }
    }

    /// Fetches on another thread until the end.
    func fetching() throws -> Working {
        try Working { [self] _ in
            _ = try fetch()
            return nil
        }
    }
}
