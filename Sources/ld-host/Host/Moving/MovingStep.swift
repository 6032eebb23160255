package import FoundationEssentials
internal import HostPlugins
package import HostStores
package import LocalDataAPI

/// Moves many small values in one change of the store that they come to, which then waits for the disk only once. Every
/// call may wait.
package struct MovingStep {
    /// A value on its way.
    package struct Item {
        package let target: SealedValue
        /// The opened bytes.
        package fileprivate(set) var data: Data
        /// What the store keeps beside them.
        package let kept: ValueAttributes
        /// What is in the envelope.
        let sealed: ValueAttributes

        /// - Parameter sealed: The same as `kept` if `nil`.
        package init(to target: SealedValue, _ data: Data, kept: ValueAttributes, sealed: ValueAttributes? = nil) {
            (self.target, self.data, self.kept, self.sealed) = (target, data, kept, sealed ?? kept)
        }
    }

    private let scope: AtomicScope

    /// - Parameter scope: Where the values come to.
    package init(to scope: AtomicScope) { self.scope = scope }

    /// Moves values: all that can be moved in this way, or none.
    ///
    /// - Parameters:
    ///   - subjects: What is moved; sealed under the same ring.
    ///   - read: Reads one. It looks at the target through the view, so that a change of it by others is noticed. An
    ///     error, or `nil`, is for one to be moved by itself.
    ///   - outcome: Called with each of those that were moved.
    /// - Returns: The outcome for each examined one, from the first on and at least for that. `nil` for those to be
    ///   moved one by one, which reports the cause: they are large, cannot be read, or another process intervened.
    package func move<Subject, Outcome>(
        _ subjects: some Collection<Subject>,
        reading read: (Subject, StoreView) throws(StorageError) -> Item?,
        _ outcome: (Subject, Item) throws(StorageError) -> Outcome
    ) throws(StorageError) -> [Outcome?] {
        var items: [(number: Int, subject: Subject, item: Item)] = []
        defer { for index in items.indices { items[index].item.data.resetBytes(in: 0..<items[index].item.data.count) } }
        var outcomes: [Outcome?] = []
        var bytes = 0
        let view = try StoreView(scope)
        for subject in subjects where bytes < MoveLimits.bytes {
            outcomes.append(nil)
            guard let item = try? read(subject, view) else { continue }
            bytes += item.data.count
            items.append((outcomes.count - 1, subject, item))
        }
        guard write(items.map(\.item), view) else { return outcomes }
        for (number, subject, item) in items { outcomes[number] = try outcome(subject, item) }
        return outcomes
    }

    /// Seals the values and stores them; `false` if that fails, and then nothing has changed. Moving them one by one
    /// reports the error with the value that it concerns.
    private func write(_ items: [Item], _ view: StoreView) -> Bool {
        // One by itself needs no transaction.
        guard items.count > 1, let first = items.first?.target else { return false }
        do throws(StorageError) {
            // One namespace has one ring for its values, so the keys are the same for all.
            return try first.layers.whileSealing(in: first.place) { (keys) throws(StorageError) in
                var changes: [StorageChange<StoreHandle>] = []
                changes.reserveCapacity(items.count)
                for item in items {
                    let value = try item.target.sealed(item.data, under: keys, attributes: item.sealed)
                    changes.append(StorageChange(key: item.target.handle, value: value, attributes: item.kept))
                }
                return try view.apply(changes)
            }
        } catch {
            return false
        }
    }
}
