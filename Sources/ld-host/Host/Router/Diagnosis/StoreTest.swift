internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostStores
package import LocalDataAPI

/// Tests that a configured store can be used: that it opens, and that a value makes the round trip that an app's values
/// make. The values are in a namespace of the host's own, and removed at the end.
package enum StoreTest {
    /// One thing that was tested.
    package struct Step: Sendable {
        /// What it is, e.g. `stores a value`.
        package let subject: String
        /// How long it took, in milliseconds.
        package let milliseconds: Double
        /// Why it failed; `nil` if it did not.
        package let problem: StorageError?
    }

    /// The domain cannot be configured, so it never contains an app's values.
    private static let place = StorageNamespace(domain: HostSettings.reservedDomains + "test")

    /// Runs the steps until one fails. May wait.
    static func run(_ slot: StoreSlot) -> [Step] {
        var steps: [Step] = []
        func step(_ subject: String, _ body: () throws(StorageError) -> Void) -> Bool {
            let start = ContinuousClock.now
            var problem: StorageError?
            do throws(StorageError) { try body() } catch { problem = error }
            steps.append(
                Step(subject: subject, milliseconds: (ContinuousClock.now - start) / .milliseconds(1), problem: problem)
            )
            return problem == nil
        }
        var opened: OpenStore?
        guard step("opens", { () throws(StorageError) in opened = try slot.openIfNeeded() }), let open = opened else {
            return steps
        }
        let store = open.store
        let address = StorageAddress(place, name: "test \(UInt64.random(in: 0 ... .max))")
        let bytes = Data((0..<256).map { _ in UInt8.random(in: 0...255) })
        var (value, isStored): (SealedValue?, Bool) = (nil, false)
        let isDone =
            step("answers, and has no value under a new name") { () throws(StorageError) in
                let resolved = try open.value(at: address)
                value = resolved
                try expect(try !store.exists(resolved.handle), "a name that was never used has a value")
            }
            && step(open.sealing == nil ? "stores a value" : "seals a value and stores it") { () throws(StorageError) in
                try value?.set(bytes, attributes: nil)
                isStored = true
            }
            && step("reads the same bytes back") { () throws(StorageError) in
                try expect(try value?.get() == bytes, "the value that was read is not the one that was stored")
            }
            && test(store, value, step)
        if let value, isStored {
            _ = step("removes it") { () throws(StorageError) in
                try expect(try value.remove() || !isDone, "the value that was stored is gone")
            }
        }
        return steps
    }

    /// The abilities that differ between stores.
    private static func test(
        _ store: LoadedStore, _ value: SealedValue?, _ step: (String, () throws(StorageError) -> Void) -> Bool
    ) -> Bool {
        guard let value else { return false }
        var isDone = true
        if store.abilities.enumeration != nil {
            isDone = step("lists it") { () throws(StorageError) in
                var count = 0
                try store.forEachName(in: place) { _ in
                    count += 1
                    return true
                }
                try expect(count > 0, "the value that was stored is not listed")
            }
        }
        if isDone, store.abilities.conditional != nil {
            isDone = step("refuses a change that expects another revision") { () throws(StorageError) in
                let revision = try store.set(value.handle, to: Data(), attributes: nil, if: .absent)
                try expect(revision == nil, "a value was created over another")
            }
        }
        if isDone, store.abilities.lock != nil {
            isDone = step("locks a name for all processes that share the store") { () throws(StorageError) in
                guard let lock = try store.lock("test", in: place, waiting: .seconds(5)) else {
                    throw StorageError(.busy, "another test holds the lock", hint: "try again")
                }
                store.unlock(lock)
            }
        }
        return isDone
    }

    private static func expect(_ holds: Bool, _ otherwise: String) throws(StorageError) {
        guard holds else { throw StorageError(.corrupt, otherwise, hint: "run: ld-host plugins test FILE") }
    }
}
