internal import HostPlugins
internal import LocalDataAPI

/// What a migration pack must list for a check to apply.
extension ConformanceRequirement {
    private static func pack(_ unmet: @escaping @Sendable (LoadedPack) -> String?) -> ConformanceRequirement {
        ConformanceRequirement { _, component in
            guard case .pack(let pack) = component else { return "it is not a migration pack" }
            return unmet(pack)
        }
    }

    static let migrations = pack { pack in
        pack.list.contains { $0.bulk == nil } ? nil : "the pack has no migration of a single key"
    }

    static let conversions = pack { pack in
        pack.list.contains { $0.bulk?.converts == true } ? nil : "the pack has no bulk migration that converts"
    }
}
