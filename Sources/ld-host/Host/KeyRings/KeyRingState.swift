internal import LocalDataAPI

/// The keys of a ring at one moment.
package struct KeyRingState: Sendable {
    /// The permitted uses of a key.
    package enum Use: UInt8, CaseIterable, Sendable {
        /// Seals and opens. At most one key.
        case active = 1
        /// Opens only.
        case decryptOnly = 2
        /// Neither seals nor opens until it is enabled again.
        case disabled = 3
    }

    /// One key.
    package struct Entry: Sendable {
        package let id: KeyID
        package internal(set) var use: Use
        /// When the key was created, in seconds since 1970 UTC.
        package let created: Int64
        let material: SecretBytes
    }

    /// In the order of their creation.
    package internal(set) var entries: [Entry]

    /// The locations of values that its keys have sealed.
    package internal(set) var places: Set<SealedPlace>

    init(entries: [Entry] = [], places: Set<SealedPlace> = []) {
        self.entries = entries
        self.places = places
    }

    /// The most keys in a ring.
    static let mostKeys = 1000

    /// The key that seals.
    package var active: Entry? { entries.first { $0.use == .active } }

    /// A key by its id.
    package subscript(id: KeyID) -> Entry? { entries.first { $0.id == id } }
}

extension KeyRingState: Equatable {
    /// Whether the same keys have the same uses, and the locations are the same. A key's material never changes.
    package static func == (left: KeyRingState, right: KeyRingState) -> Bool {
        left.places == right.places
            && left.entries.elementsEqual(right.entries) { $0.id == $1.id && $0.use == $1.use }
    }
}

extension KeyRingState.Use: CustomStringConvertible {
    /// The use in the words of `ld-host keys list`.
    package var description: String {
        switch self {
        case .active: "active"
        case .decryptOnly: "decrypt-only"
        case .disabled: "disabled"
        }
    }
}

extension KeyRingState {
    /// Makes a key the active one; the former active key only opens.
    mutating func promote(_ id: KeyID) {
        for index in entries.indices {
            if entries[index].id == id {
                entries[index].use = .active
            } else if entries[index].use == .active {
                entries[index].use = .decryptOnly
            }
        }
    }

    /// Sets a key's use.
    mutating func set(_ use: Use, of id: KeyID) {
        for index in entries.indices where entries[index].id == id { entries[index].use = use }
    }
}
