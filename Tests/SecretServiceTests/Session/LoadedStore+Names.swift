import Foundation
import LocalDataAPI
import LocalDataHost

/// Calls by name, for the tests.
extension LoadedStore {
    func with<Result>(_ address: StorageAddress, _ body: (StoreHandle) throws -> Result) throws -> Result {
        let handle = try resolve(address)
        defer { release(handle) }
        return try body(handle)
    }

    func get(_ address: StorageAddress) throws -> Data? { try with(address) { try get($0) } }

    func exists(_ address: StorageAddress) throws -> Bool { try with(address) { try exists($0) } }

    func set(_ address: StorageAddress, to value: Data, attributes: ValueAttributes? = nil) throws {
        try with(address) { try set($0, to: value, attributes: attributes) }
    }

    func remove(_ address: StorageAddress) throws -> Bool { try with(address) { try remove($0) } }

    func attributes(of address: StorageAddress) throws -> ValueAttributes? {
        try with(address) { try attributes(of: $0) }
    }

    func names(in place: StorageNamespace, prefix: String = "") throws -> [String] {
        var names: [String] = []
        try forEachName(in: place, prefix: prefix) {
            names.append($0)
            return true
        }
        return names
    }

    func places() throws -> Set<StorageNamespace> {
        var places: Set<StorageNamespace> = []
        try forEachPlace {
            places.insert($0)
            return true
        }
        return places
    }
}

extension StorageAddress {
    /// An address in the keychain.
    static func secret(_ service: String, _ name: String) -> StorageAddress {
        StorageAddress(StorageNamespace(domain: "keychain", scope: service), name: name)
    }
}
