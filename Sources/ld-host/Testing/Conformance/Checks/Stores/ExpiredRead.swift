internal import Glibc
internal import HostPlugins
internal import LocalDataAPI

/// A read of one value.
struct ExpiredRead: Sendable {
    let name: String
    let applies: @Sendable (LoadedStore) -> Bool
    let isAbsent: @Sendable (StoreUnderTest, String) throws -> Bool

    static let all: [ExpiredRead] = [
        ExpiredRead(name: "get") { _ in
            true
        } isAbsent: {
            try $0.get($1) == nil
        },
        ExpiredRead(name: "exists") { _ in
            true
        } isAbsent: {
            try !$0.store.exists($0.handle($1))
        },
        ExpiredRead(name: "attributes") {
            $0.abilities.attributes != nil
        } isAbsent: {
            try $0.store.attributes(of: $0.handle($1)) == nil
        },
        ExpiredRead(name: "streaming read") {
            $0.abilities.streaming != nil
        } isAbsent: {
            try !$0.store.read($0.handle($1)) { _ in true }
        },
        ExpiredRead(name: "conditional get") {
            $0.abilities.conditional != nil
        } isAbsent: {
            try $0.store.revisioned($0.handle($1)) == nil
        },
        ExpiredRead(name: "verify") {
            $0.abilities.verification != nil
        } isAbsent: {
            try $0.store.verify($0.handle($1)) == nil
        },
    ]

    private init(
        name: String, applies: @escaping @Sendable (LoadedStore) -> Bool,
        isAbsent: @escaping @Sendable (StoreUnderTest, String) throws -> Bool
    ) {
        (self.name, self.applies, self.isAbsent) = (name, applies, isAbsent)
    }
}
