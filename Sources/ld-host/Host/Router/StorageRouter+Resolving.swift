internal import LocalDataAPI

extension StorageRouter {
    /// The stores of the current snapshot.
    func access() async throws(StorageError) -> StoreAccess { StoreAccess(snapshot: try await snapshot()) }

    /// The key's open store and handle, resolved once per snapshot.
    ///
    /// - Throws: What ``StoreAccess/resolve(_:)`` throws.
    func resolve(_ key: KeyReference) async throws(StorageError) -> ResolvedKey {
        if let resolved = known(key.slot) { return resolved.takeUnretainedValue() }
        return try await access().resolve(key)
    }

    /// Resolves a typed key; a known one costs no reference to its parts.
    @inline(__always)
    func resolve<Value>(_ key: StorageKey<Value>) async throws(StorageError) -> ResolvedKey {
        if let resolved = known(key.slot) { return resolved.takeUnretainedValue() }
        return try await resolve(KeyReference(key))
    }
}

extension StorageRouter {
    /// How the host handles interrupted work.
    static func recovery(_ snapshot: RouterSnapshot) -> JournalRecovery {
        JournalRecovery([
            ResealIntent.kind: .onDemand, CopyIntent.kind: .onDemand,
            BatchIntent.kind: .atOpen { try BatchRecovery(snapshot: snapshot).recover($0) },
        ])
    }

    /// Resumes interrupted work. A failure affects nothing else: it is logged, and `doctor` reports it.
    func recover(_ snapshot: RouterSnapshot) {
        do throws(StorageError) {
            let report = try IntentJournal(folder: snapshot.settings.folders.journal).recover(
                with: Self.recovery(snapshot))
            for failure in report.failures {
                snapshot.log(.warning, "journal", "'\(failure.intent.subject)' is half done: \(failure.error.message)")
            }
            for intent in report.recovered { snapshot.log(.info, "journal", "'\(intent.subject)' is now done") }
        } catch {
            snapshot.log(.warning, "journal", error.message)
        }
    }
}
