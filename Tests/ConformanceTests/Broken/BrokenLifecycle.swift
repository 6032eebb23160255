import LocalDataAPI
import LocalDataTesting
import Synchronization

enum BrokenLifecycle {
    final class NeverOpens: CorrectStore, @unchecked Sendable {
        required init(options: ComponentOptions, host: HostServices) throws {
            throw StorageError(.storeUnavailable, "the store cannot be reached")
        }
    }

    final class ListsAnOptionTwice: CorrectStore, @unchecked Sendable {
        override class var component: ComponentInfo {
            ComponentInfo(id: "twice", summary: "has one option twice", options: [root, root])
        }
    }

    final class OpensOnce: CorrectStore, @unchecked Sendable {
        private static let opened = Mutex<Set<String>>([])

        override var properties: StoreProperties {
            StoreProperties(latency: .disk, isDurable: false, isShared: false, largestValue: Self.limit)
        }

        required init(options: ComponentOptions, host: HostServices) throws {
            let root = try options.string("root")
            guard Self.opened.withLock({ $0.insert(root).inserted }) else {
                throw StorageError(.busy, "'\(root)' is in use")
            }
            try super.init(options: options, host: host)
        }
    }

    final class ForgetsAtClose: CorrectStore, @unchecked Sendable {
        required init(options: ComponentOptions, host: HostServices) throws { super.init(sharing: InMemoryContents()) }
    }
}
