internal import LocalDataAPI

/// Whether the stores' data is sound, as far as they can check.
extension Diagnosis {
    static func damage(in snapshot: RouterSnapshot, besides silent: Set<String>) async -> [Finding] {
        let findings = try? await onIOThread { () throws(StorageError) in
            snapshot.stores.filter { !silent.contains($0.settings.name) }.flatMap(damage)
        }
        return findings ?? []
    }

    /// Repairs damage that blocks changes, in stores that can do so, and reports each step.
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

    /// The most findings per store: damage in one location often means damage in many.
    private static let most = 20

    private static func damage(in slot: StoreSlot) -> [Finding] {
        // Other findings report a store that cannot be opened.
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
        return findings.isEmpty ? [Finding("store '\(open.name)' was checked; no damage was found")] : findings
    }
}
