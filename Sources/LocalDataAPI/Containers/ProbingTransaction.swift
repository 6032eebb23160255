internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Lets a step run on a store that it does not change, to find out whether there is anything for it.
final class ProbingTransaction: StorageTransaction {
    private struct State {
        /// What the step has set or removed.
        var changes: [String: Data?] = [:]
        var found: [StorageDomain: Set<String>] = [:]
        var failure: (any Error)?
    }

    private let original: any StorageProviding
    private let state = Mutex(State())

    init(_ original: any StorageProviding) { self.original = original }

    /// Whether the step has asked for a value that is there, but for versions.
    var hasFound: Bool { state.withLock { !$0.found.isEmpty } }

    /// The names that the step has asked for in a place and that are there, but for versions.
    func found(in domain: StorageDomain) -> Set<String> { state.withLock { $0.found[domain] ?? [] } }

    /// Why a value could not be looked for, so that it is not known whether it is there.
    var failure: (any Error)? { state.withLock { $0.failure } }

    private func looking<Result>(_ look: (any StorageProviding) async throws -> Result) async throws -> Result {
        do { return try await look(original) } catch {
            state.withLock { state in state.failure = state.failure ?? error }
            throw error
        }
    }

    func data(for key: AnyStorageKey) async throws -> Data? {
        if let change = change(of: key) { return change }
        let data = try await looking { try await $0.data(for: key) }
        if data != nil { find(key.descriptor.name, key.descriptor.domain) }
        return data
    }

    func setData(_ data: Data, for key: AnyStorageKey) async throws { make(.some(data), to: key) }

    func setData(_ data: Data, versionTag: String?, for key: AnyStorageKey) async throws { make(.some(data), to: key) }

    /// A value that is removed has been found.
    func remove(_ key: AnyStorageKey) async throws {
        if change(of: key) == nil, try await looking({ try await $0.exists(key) }) {
            find(key.descriptor.name, key.descriptor.domain)
        }
        make(nil, to: key)
    }

    func exists(_ key: AnyStorageKey) async throws -> Bool {
        if let change = change(of: key) { return change != nil }
        let isThere = try await looking { try await $0.exists(key) }
        if isThere { find(key.descriptor.name, key.descriptor.domain) }
        return isThere
    }

    func names(in domain: StorageDomain, prefix: String) async throws -> [String] {
        let names = try await original.names(in: domain, prefix: prefix)
        for name in names { find(name, domain) }
        return names
    }

    func attributes(of key: AnyStorageKey) async throws -> ValueAttributes? { try await original.attributes(of: key) }

    private func change(of key: AnyStorageKey) -> Data?? { state.withLock { $0.changes[key.address] } }

    private func make(_ change: Data?, to key: AnyStorageKey) {
        state.withLock { $0.changes[key.address] = .some(change) }
    }

    private func find(_ name: String, _ domain: StorageDomain) {
        guard !ContainerVersionKey.isReserved(name) else { return }
        state.withLock { _ = $0.found[domain, default: []].insert(name) }
    }
}
