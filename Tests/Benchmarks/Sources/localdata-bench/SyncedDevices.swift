internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost

/// Devices of one sync group, in this process. Each has a separate home and database.
struct SyncedDevices {
    /// The transport of the records.
    enum Carrier {
        /// A folder of this machine, which both share.
        case folder
        /// A server of NATS, by its URL.
        case nats(String)
    }

    /// The folder of all devices' data.
    let folder: String
    let keys: [StorageKey<Data>]
    private let setting: Setting
    private let carrier: Carrier

    /// - Parameter count: The number of keys.
    init(_ setting: Setting, _ name: String, _ carrier: Carrier, keys count: Int) {
        (self.setting, self.carrier) = (setting, carrier)
        folder = "\(setting.folder)/\(name)"
        mkdir(folder, 0o700)
        mkdir("\(folder)/shared", 0o700)
        keys = (0..<count).map { number in
            let digits = String(number)
            return Self.key("key-" + String(repeating: "0", count: 7 - digits.count) + digits, .automaticSmall)
        }
    }

    /// A key whose value a device publishes on request; its sync checks no other key.
    static let requested = key("requested", .manual)

    private static func key(_ name: String, _ policy: SyncPolicy) -> StorageKey<Data> {
        StorageKey(
            name: name, domain: .custom(name: "bench"), security: .none, serializer: .data, owner: "Benchmarks",
            description: "A value to measure with.", syncPolicy: policy)
    }

    private struct Catalog: StorageKeyCatalog {
        let allKeys: [AnyStorageKey]
    }

    /// A device, which has not joined a group.
    func device(_ name: String) async throws -> StorageRouter {
        let home = "\(folder)/\(name)"
        let (plugin, transport) =
            switch carrier {
            case .folder: ("FolderSync", "\"folder\", \"options\": { \"folder\": \"\(folder)/shared\" }")
            case .nats(let url): ("NATSSync", "\"nats\", \"options\": { \"servers\": \"\(url)\" }")
            }
        let files = ["SQLiteStore", "FileStore", "OpenSSLCrypto", plugin].map { "\"\(setting.plugins)/lib\($0).so\"" }
        let router = try StorageRouter(
            configuration: HostConfiguration(
                text: """
                    {
                      "plugins": { "path": [\(files.joined(separator: ", "))] },
                      "directories": {
                        "cache": "\(home)/cache", "data": "\(home)/data", "state": "\(home)/state",
                        "config": "\(home)/config",
                      },
                      "stores": {
                        "values": { "component": "sqlite", "options": { "path": "\(home)/values.sqlite" } },
                      },
                      "domains": { "bench": "values", "userDefaults": "values" },
                      "sync": { "transport": \(transport) },
                    }
                    """))
        try await router.registerCatalog(Catalog(allKeys: (keys + [Self.requested]).map { .key($0) }))
        return router
    }

    /// Two devices of one group, with nothing left to publish.
    func pair() async throws -> (first: StorageRouter, second: StorageRouter) {
        let (first, second) = (try await device("a"), try await device("b"))
        try await first.syncGroup.create(named: "a")
        try await second.syncGroup.join(try await first.syncGroup.invite().code, named: "b")
        try await settle(first, second)
        return (first, second)
    }

    /// Syncs devices until they report that they have the same values.
    func settle(_ devices: StorageRouter...) async throws {
        for _ in 0..<4 { for device in devices { try await device.sync() } }
        for device in devices {
            let report = try await device.sync()
            guard report.isComplete, !report.isJoining, report.pending == 0 else {
                throw Failure(description: "the devices do not converge: \(report)")
            }
        }
    }

    /// Stores a value for each of some keys.
    func fill(_ device: StorageRouter, _ chosen: Range<Int>, with byte: UInt8) async throws {
        for start in stride(from: chosen.lowerBound, to: chosen.upperBound, by: 1000) {
            var batch = StorageBatch()
            for index in start..<min(start + 1000, chosen.upperBound) {
                try batch.set(Data(repeating: byte, count: 128), for: keys[index])
            }
            try await device.apply(batch)
        }
    }

    /// The bytes of all files in the shared folder.
    func sharedBytes() throws -> Int {
        var total = 0
        for writer in try FileManager.default.contentsOfDirectory(atPath: "\(folder)/shared") {
            for name in try FileManager.default.contentsOfDirectory(atPath: "\(folder)/shared/\(writer)") {
                var status = stat()
                if stat("\(folder)/shared/\(writer)/\(name)", &status) == 0 { total += status.st_size }
            }
        }
        return total
    }

    func remove() throws { try FileManager.default.removeItem(atPath: folder) }
}
