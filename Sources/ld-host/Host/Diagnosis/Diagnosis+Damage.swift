internal import LocalDataAPI

/// Whether what the stores keep is sound, as far as they can tell.
extension Diagnosis {
    static func damage(in snapshot: RouterSnapshot, besides silent: Set<String>) async -> [Finding] {
        let findings = try? await onIOThread { () throws(StorageError) in
            snapshot.stores.filter { !silent.contains($0.settings.name) }.flatMap(damage)
        }
        return findings ?? []
    }

    /// Repairs what keeps stores from being changed, where they can do so, and tells what was done.
    static func repair(in snapshot: RouterSnapshot) async -> [Finding] {
        let findings = try? await onIOThread { () throws(StorageError) in snapshot.stores.flatMap(repair) }
        return findings ?? []
    }

    private static func repair(_ slot: StoreSlot) -> [Finding] {
        guard let open = try? slot.openIfNeeded(), open.store.abilities.repair != nil else { return [] }
        var findings: [Finding] = []
        do throws(StorageError) {
            try open.store.repair { findings.append(Finding("store '\(open.name)' was repaired: \($0)")) }
        } catch {
            findings.append(Finding("store '\(open.name)' cannot be repaired", error))
        }
        return findings
    }

    /// The most findings of one store: what is broken in one place is often broken in many.
    private static let most = 20

    private static func damage(in slot: StoreSlot) -> [Finding] {
        // What cannot be opened is reported elsewhere.
        guard let open = try? slot.openIfNeeded(), open.store.abilities.check != nil else { return [] }
        var findings: [Finding] = []
        do throws(StorageError) {
            try open.store.check {
                findings.append(
                    Finding(
                        "store '\(open.name)' is damaged: \($0)",
                        hint: open.store.abilities.repair == nil
                            ? "restore it from a backup"
                            : "restore it from a backup, or run: ld-host doctor --repair", isProblem: true))
                return findings.count < most
            }
        } catch {
            findings.append(Finding("store '\(open.name)' cannot be checked", error))
        }
        return findings.isEmpty ? [Finding("store '\(open.name)' was checked, and nothing in it is damaged")] : findings
    }
}
