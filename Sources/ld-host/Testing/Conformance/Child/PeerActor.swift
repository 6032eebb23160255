internal import Glibc
internal import HostPlugins
internal import LocalDataAPI

/// The part of the other process in a check.
struct PeerActor {
    let store: LoadedStore
    let script: PeerScript

    /// Executes the script and returns the answers of its steps.
    func act() throws -> [String] {
        var answers: [String] = []
        for step in script.steps {
            switch step {
            case .set(let name, let seed, let size): try set(name, seed, size)
            case .remove(let name):
                let handle = try handle(name)
                defer { store.release(handle) }
                _ = try store.remove(handle)
            case .read(let name): answers.append(try read(name))
            case .replace(let name, let size, let times):
                for index in 0..<times { try set(name, UInt64(index), size) }
            case .fill(let prefix, let size, let count):
                for index in 0..<count { try set("\(prefix)\(index)", UInt64(index), size) }
            case .die: raise(SIGKILL)
            }
        }
        store.close()
        return answers
    }

    private func handle(_ name: String) throws -> StoreHandle {
        try store.resolve(
            StorageAddress(StorageNamespace(domain: script.domain, scope: script.scope), name: name))
    }

    private func set(_ name: String, _ seed: UInt64, _ size: Int) throws {
        let handle = try handle(name)
        defer { store.release(handle) }
        try store.set(handle, to: Pattern.data(seed, size), attributes: nil)
    }

    private func read(_ name: String) throws -> String {
        let handle = try handle(name)
        defer { store.release(handle) }
        guard let data = try store.get(handle) else { return "none" }
        return Pattern.seed(of: data).map { "seed \($0)" } ?? "damaged"
    }
}
