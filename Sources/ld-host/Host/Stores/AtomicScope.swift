internal import LocalDataAPI

/// The part of a store whose values can change in one step: the whole store, or one folder of a store that keeps
/// folders apart.
struct AtomicScope: Hashable, Sendable {
    let open: OpenStore
    /// The folder, if the store keeps it apart.
    let directory: String?

    init(_ open: OpenStore, directory: String?) {
        self.open = open
        self.directory = directory
    }

    /// The scope of a namespace.
    init(_ place: StorageNamespace, in open: OpenStore) {
        self.init(open, directory: open.store.properties.keepsFoldersApart ? place.directory : nil)
    }

    /// Paths are compared as bytes: canonically equivalent characters are different.
    static func == (left: Self, right: Self) -> Bool {
        guard left.open === right.open else { return false }
        guard let folder = left.directory, let other = right.directory else {
            return left.directory == nil && right.directory == nil
        }
        return folder.utf8.elementsEqual(other.utf8)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(open))
        hasher.combine(directory)
    }
}

extension ResolvedKey {
    var scope: AtomicScope { AtomicScope(address.place, in: open) }
}
