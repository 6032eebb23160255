import LocalDataAPI
import LocalDataTesting

enum BrokenNames {
    final class RefusesLineFeeds: CorrectStore, @unchecked Sendable {
        override func resolve(_ address: StorageAddress) throws -> StorageAddress {
            guard !address.name.utf8.contains(10) else { throw StorageError(.invalidAddress, "a name has one line") }
            return address
        }
    }

    final class RefusesLongNames: CorrectStore, @unchecked Sendable {
        override func resolve(_ address: StorageAddress) throws -> StorageAddress {
            guard address.name.utf8.count <= 255 else { throw StorageError(.invalidAddress, "the name is too long") }
            return address
        }
    }

    final class FoldsCase: CorrectStore, @unchecked Sendable {
        override func resolve(_ address: StorageAddress) -> StorageAddress {
            StorageAddress(address.place, name: address.name.lowercased())
        }
    }

    final class UnescapesScopes: CorrectStore, @unchecked Sendable {
        override func resolve(_ address: StorageAddress) -> StorageAddress {
            let scope = address.place.scope.split(separator: "%2F", omittingEmptySubsequences: false)
                .joined(separator: "/")
            return StorageAddress(StorageNamespace(domain: address.place.domain, scope: scope), name: address.name)
        }
    }

    final class FoldsDomains: CorrectStore, @unchecked Sendable {
        override func resolve(_ address: StorageAddress) -> StorageAddress {
            StorageAddress(
                StorageNamespace(domain: address.place.domain.lowercased(), scope: address.place.scope),
                name: address.name)
        }
    }
}
