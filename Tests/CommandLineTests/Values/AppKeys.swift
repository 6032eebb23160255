import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import Testing

/// An app's keys, one for each way in which `ld-host set` encodes a value.
struct AppKeys: StorageKeyCatalog {
    /// A type that only the app defines.
    enum Mood: String, Codable { case calm, wild }

    struct Profile: Codable, Hashable { var name: String }

    static let theme: StorageKey<String> = key("theme")
    static let size: StorageKey<Int> = key("size")
    static let small: StorageKey<Int8> = key("small")
    static let large: StorageKey<UInt64> = key("large")
    static let ratio: StorageKey<Double> = key("ratio")
    static let isOn: StorageKey<Bool> = key("isOn")
    static let start: StorageKey<Date> = key("start")
    static let blob: StorageKey<Data> = key("blob")
    static let link: StorageKey<URL> = key("link")
    static let id: StorageKey<UUID> = key("id")
    static let limit: StorageKey<Int?> = key("limit")
    static let names: StorageKey<[String]> = key("names")
    static let mood: StorageKey<Mood> = key("mood")
    static let counts: StorageKey<[String: Int]> = key("counts", .plist)
    static let profile: StorageKey<Profile> = key("profile", .plist)
    static let note: StorageKey<String> = key("note", .text)
    static let raw: StorageKey<Data> = key("raw", .data)
    static let own: StorageKey<String> = key(
        "own", .custom(encode: { Data($0.utf8.reversed()) }, decode: { String(decoding: $0.reversed(), as: UTF8.self) })
    )
    static let token = StorageKey<String>(
        name: "token", domain: .keychain(service: "app"), security: .keychain(accessibility: .whenUnlocked),
        owner: "tests", description: "a secret")

    let allKeys: [AnyStorageKey] = [
        .key(theme), .key(size), .key(small), .key(large), .key(ratio), .key(isOn), .key(start), .key(blob), .key(link),
        .key(id), .key(limit), .key(names), .key(mood), .key(counts), .key(profile), .key(note), .key(raw), .key(own),
        .key(token),
    ]

    private static func key<Value>(
        _ name: String, _ serializer: Serializer<Value> = .json
    ) -> StorageKey<Value> {
        StorageKey(
            name: name, domain: .userDefaults(), security: .none, serializer: serializer, owner: "tests",
            description: "a key for tests")
    }
}

extension Home {
    /// The router of an app in this home, by default of one without an identity, whose data is that of `ld-host`.
    func app(_ id: String = "") throws -> StorageRouter {
        let folders = ["data", "cache", "state", "config"].map { "\($0): \"\(path)/\($0)/localdata\"" }
        let text = "{ app: { id: \"\(id)\" }, directories: { \(folders.joined(separator: ", ")) } }"
        return StorageRouter(configuration: try HostConfiguration(text: text))
    }

    /// Makes the app's keys known to `ld-host`.
    func describeKeys() throws {
        let file = "\(path)/app.catalog.json"
        try CatalogManifest(AppKeys(), app: "").json().write(to: URL(filePath: file))
        try done("config", "set", "catalogs", "[\"\(file)\"]")
    }
}
