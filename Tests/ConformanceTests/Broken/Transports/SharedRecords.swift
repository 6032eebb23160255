import Foundation
import LocalDataAPI
import Synchronization

/// The state that transports with the same options share.
final class SharedRecords: Sendable {
    private struct State {
        var count = 0
        var records: [(number: Int, record: SyncRecord)] = []
        var subscribers: [Int: (device: ObjectIdentifier, notify: CorrectTransport.Notify)] = [:]
        var subscriptions = 0
    }
    private let state = Mutex(State())
    /// Held while a subscriber is notified, so that its subscription can end only before or after.
    private let notifying = Mutex(())

    private static let places = Mutex<[String: SharedRecords]>([:])

    static func at(_ place: String) -> SharedRecords {
        places.withLock { places in
            let shared = places[place] ?? SharedRecords()
            places[place] = shared
            return shared
        }
    }

    /// The number of all records that were ever appended.
    var count: Int { state.withLock { $0.count } }

    func records(since number: Int) -> [(number: Int, record: SyncRecord)] {
        state.withLock { $0.records.filter { $0.number >= number } }
    }

    func append(_ records: [SyncRecord]) {
        add(records)
        notify()
    }

    func add(_ records: [SyncRecord]) {
        state.withLock { state in
            for record in records {
                state.records.append((state.count, record))
                state.count += 1
            }
        }
    }

    /// Replaces the last published record.
    func replaceLast(_ record: SyncRecord) {
        state.withLock { $0.records[$0.records.count - 1].record = record }
    }

    func remove(_ matches: (SyncRecord) -> Bool) {
        state.withLock { state in state.records.removeAll { matches($0.record) } }
    }

    func notify(only device: CorrectTransport? = nil) {
        notifying.withLock { _ in
            for (number, subscriber) in state.withLock({ $0.subscribers }) {
                guard state.withLock({ $0.subscribers[number] != nil }) else { continue }
                if let device, subscriber.device != ObjectIdentifier(device) { continue }
                subscriber.notify(.changed)
            }
        }
    }

    func subscribe(_ device: CorrectTransport, _ notify: @escaping CorrectTransport.Notify) -> Int {
        state.withLock { state in
            state.subscriptions += 1
            state.subscribers[state.subscriptions] = (ObjectIdentifier(device), notify)
            return state.subscriptions
        }
    }

    func unsubscribe(_ subscription: Int) { notifying.withLock { _ in unsubscribeAtOnce(subscription) } }

    func unsubscribeAtOnce(_ subscription: Int) { state.withLock { $0.subscribers[subscription] = nil } }
}
