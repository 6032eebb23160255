internal import CLocalData
internal import HostPlugins
internal import LocalDataAPI

/// What a component must declare for a check to apply.
struct ConformanceRequirement: Sendable {
    /// Why the check is skipped; `nil` if it applies.
    let unmet: @Sendable (ConformanceSubject, OpenComponent) -> String?

    init(_ unmet: @escaping @Sendable (ConformanceSubject, OpenComponent) -> String?) { self.unmet = unmet }

    private static func store(_ unmet: @escaping @Sendable (LoadedStore) -> String?) -> ConformanceRequirement {
        ConformanceRequirement { _, component in
            guard case .store(let store) = component else { return "it is not a store" }
            return unmet(store)
        }
    }

    private static func ability(_ id: String, _ name: String) -> ConformanceRequirement {
        store { $0.abilityIDs.contains(id) ? nil : "the store does not offer \(name)" }
    }

    static let enumeration = ability(LD_STORE_ENUMERATION, "enumeration")
    static let attributes = ability(LD_STORE_ATTRIBUTES, "attributes")
    static let streaming = ability(LD_STORE_STREAMING, "streaming")
    static let batch = ability(LD_STORE_BATCH, "batches")
    static let bulk = ability(LD_STORE_BULK, "bulk changes")
    static let watch = ability(LD_STORE_WATCH, "watching")
    static let transactions = ability(LD_STORE_TRANSACTIONS, "transactions")

    static let conditional = ability(LD_STORE_CONDITIONAL, "conditional changes")
    static let expiry = ability(LD_STORE_EXPIRY, "expiry")
    static let lock = ability(LD_STORE_LOCK, "locks")
    static let check = ability(LD_STORE_CHECK, "checks")
    static let verification = ability(LD_STORE_VERIFICATION, "verification")
    static let wiping = ability(LD_STORE_WIPING, "wiping")

    static let durable = store {
        $0.properties.isDurable ? nil : "the store does not declare that it is durable"
    }

    static let shared = store {
        $0.properties.isShared ? nil : "the store does not declare that processes share it"
    }

    static let foldersTogether = store {
        $0.properties.keepsFoldersApart ? "the store declares that it keeps folders apart" : nil
    }

    /// The store may read its values from files, so it need not hold them in memory.
    static let outsideMemory = store {
        $0.properties.latency == .memory ? "the store declares that it keeps values in memory" : nil
    }

    /// A value above the limit can be created.
    static let limit = store { store in
        guard let largest = store.properties.largestValue else { return "the store declares no largest value" }
        let most: UInt64 = 64 << 20
        return largest <= most ? nil : "the store's largest value, \(largest) bytes, is more than this check creates"
    }

    static func room(for size: UInt64) -> ConformanceRequirement {
        store { store in
            guard let largest = store.properties.largestValue, largest < size else { return nil }
            return "the store accepts at most \(largest) bytes; the check needs \(size)"
        }
    }

    /// Another process can open the same store.
    static let peer = ConformanceRequirement { subject, _ in
        subject.peer == nil ? "a second process needs a plugin file and ld-host: run ld-host plugins test FILE" : nil
    }
}
