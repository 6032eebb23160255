internal import FoundationEssentials
internal import HostPlugins
internal import HostStores
public import LocalDataAPI

/// Changes that start again if someone else was faster.
extension StorageRouter {
    /// Changes a value as one step: reads it, lets `change` compute the new one, and stores that if nobody has changed
    /// the value meanwhile; otherwise it starts again, after a pause that grows while others keep being faster.
    ///
    /// ```swift
    /// try await router.update(.visits) { $0 = ($0 ?? 0) + 1 }
    /// ```
    ///
    /// A value that expires keeps its time, unless the key has a `lifetime`: then that begins again.
    ///
    /// - Parameter change: Gets the stored value, `nil` if it is absent, and changes it; `nil` removes it. Called as
    ///   often as someone else is faster, so it should have no other effect.
    /// - Returns: The new value.
    /// - Throws: What `change` throws, and then nothing has changed; what ``get(_:)`` and ``set(_:for:)`` throw, except
    ///   `notFound`; `unsupported`.
    @discardableResult
    public func update<Value>(
        _ key: StorageKey<Value>, _ change: (inout Value?) async throws -> Void
    ) async throws -> Value? {
        var contention = Contention()
        while true {
            let resolved = try await settled(key)
            let stored = try await resolved.revisioned()
            var value: Value?
            if let stored { value = try await self.value(of: key, in: stored) }
            try await change(&value)
            var isDone = false
            do {
                if let value {
                    let kept = key.lifetime == nil ? stored : nil
                    isDone = try await replace(stored, with: value, for: key, resolved, keepingExpiryOf: kept)
                } else if let stored {
                    isDone = try await resolved.remove(ifRevision: stored.revision)
                    if isDone { await noteRemoved(resolved, .from(key)) }
                } else {
                    isDone = true
                }
            } catch let error as StorageError where error.isSuperseded {
                // The value is read again from the store that has it now.
            }
            if isDone { return value }
            try await contention.pause()
        }
    }

    /// Stores a value, replacing the old one, whose expiry it may keep.
    ///
    /// - Parameter keepingExpiry: Whether the new value expires when the old one would have, and never if that never
    ///   would. If no value is stored, the key's `lifetime` counts, as with ``set(_:for:)``.
    /// - Throws: What ``set(_:for:)`` throws; `unsupported` if `keepingExpiry` is set, and the store has no
    ///   conditional changes.
    public func set<Value>(_ value: Value, for key: StorageKey<Value>, keepingExpiry: Bool) async throws {
        guard keepingExpiry else { return try await set(value, for: key) }
        var contention = Contention()
        while true {
            let resolved = try await settled(key)
            let stored = try await resolved.revisioned()
            do {
                if try await replace(stored, with: value, for: key, resolved, keepingExpiryOf: stored) { return }
            } catch let error as StorageError where error.isSuperseded {
                continue
            }
            try await contention.pause()
        }
    }

    /// Stores a value if the stored one is still what was read; returns whether it is.
    private func replace<Value>(
        _ stored: RevisionedData?, with value: Value, for key: StorageKey<Value>, _ resolved: ResolvedKey,
        keepingExpiryOf kept: RevisionedData?
    ) async throws -> Bool {
        let data = try key.encode(value)
        let attributes = kept.map { resolved.attributes(keepingExpiryOf: $0) } ?? resolved.attributes
        let condition = stored.map { WriteCondition.revision($0.revision) } ?? .absent
        guard try await resolved.set(data, attributes: attributes, if: condition) != nil else { return false }
        await note(resolved, .from(key))
        return true
    }
}

/// The pauses of a change that others keep preventing: random ones, from a span that begins with the time that an
/// attempt takes and doubles with each. So however many compete, and however slow the store is, most attempts soon
/// succeed, and none waits long behind another.
struct Contention {
    private var began = ContinuousClock.now
    private var attempts = 0

    /// Waits before the next attempt.
    ///
    /// - Throws: `CancellationError`.
    mutating func pause() async throws {
        let attempt = began.duration(to: .now)
        let span = min(max(attempt, .microseconds(50)) * (1 << min(attempts, 10)), Self.longest)
        attempts += 1
        try await Task.sleep(for: span * Double.random(in: 0..<1))
        began = .now
    }

    private static let longest = Duration.milliseconds(250)
}
