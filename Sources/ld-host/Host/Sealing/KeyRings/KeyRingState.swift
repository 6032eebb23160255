internal import Glibc
package import HostGround
package import LocalDataAPI

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
        package let material: SecretBytes
    }

    /// In the order of their creation.
    package var entries: [Entry]

    /// The locations of values that its keys have sealed.
    package var places: Set<SealedPlace>

    package init(entries: [Entry] = [], places: Set<SealedPlace> = []) {
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
    package mutating func promote(_ id: KeyID) {
        for index in entries.indices {
            if entries[index].id == id {
                entries[index].use = .active
            } else if entries[index].use == .active {
                entries[index].use = .decryptOnly
            }
        }
    }

    /// Returns a key that was removed, so that it opens what it has sealed. When it was created is forgotten.
    mutating func restore(_ material: SecretBytes, _ id: KeyID) {
        entries.append(Entry(id: id, use: .decryptOnly, created: Int64(time(nil)), material: material))
    }

    /// Adds keys of another ring that this one does not have. None of them seals.
    package mutating func join(_ others: [Entry]) {
        for var entry in others where self[entry.id] == nil {
            if entry.use == .active { entry.use = .decryptOnly }
            entries.append(entry)
        }
    }

    /// Sets a key's use.
    package mutating func set(_ use: Use, of id: KeyID) {
        for index in entries.indices where entries[index].id == id { entries[index].use = use }
    }
}

/// The encoding of a stored ring, which is always inside of an envelope or a sealing store. It starts with the mark 89
/// 4C 44 4B, the version 1, a zero and the number of keys. Each key has its id, its use, its creation time, and the
/// size and bytes of its material. Then follow the number of locations, and for each the store's identity and name, the
/// domain, the scope and the folder, which is empty for the store's own. Counts of keys and sizes have 2 bytes, the
/// number of locations 4, other numbers 8; all are big-endian. Texts are UTF-8 after their size.
extension KeyRingState {
    private static let magic: [UInt8] = [0x89, 0x4C, 0x44, 0x4B]
    private static let version: UInt8 = 1
    private static let entrySize = KeyID.size + 1 + 8 + 2

    /// The encoded ring.
    package func encoded() throws(StorageError) -> SecretBytes {
        let places = places.map { ($0, Self.texts(of: $0)) }.sorted { $0.1.lexicographicallyPrecedes($1.1) }
        guard entries.count <= Self.mostKeys, places.allSatisfy({ $0.1.allSatisfy { $0.utf8.count <= UInt16.max } })
        else {
            throw StorageError(
                .valueTooLarge, "a key ring has more than \(Self.mostKeys) keys, or the path of a location is too long",
                hint: "see: ld-host keys list")
        }
        let keysSize = entries.reduce(8) { $0 + Self.entrySize + $1.material.count }
        let size = places.reduce(keysSize + 4) { $0 + 8 + $1.1.reduce(0) { $0 + 2 + $1.utf8.count } }
        return try SecretBytes(count: size) { (memory) throws(StorageError) in
            var rest = memory[...]
            func add(_ bytes: some Collection<UInt8>) {
                UnsafeMutableRawBufferPointer(rebasing: rest).copyBytes(from: bytes)
                rest = rest.dropFirst(bytes.count)
            }
            func add(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number.bigEndian) { add($0) } }
            add(Self.magic + [Self.version, 0])
            add(UInt16(entries.count))
            for entry in entries {
                add(entry.id.bytes)
                add([entry.use.rawValue])
                add(entry.created)
                add(UInt16(entry.material.count))
                entry.material.withBytes { add($0) }
            }
            add(UInt32(places.count))
            for (place, texts) in places {
                add(place.identity)
                for text in texts {
                    add(UInt16(text.utf8.count))
                    add(text.utf8)
                }
            }
        }
    }

    /// Decodes a ring.
    ///
    /// - Parameter name: The ring, for errors.
    /// - Throws: `corrupt`; `unsupported` if a later version wrote it.
    package init(decoding bytes: UnsafeRawBufferPointer, of name: String) throws(StorageError) {
        let damaged = StorageError(
            .corrupt, "\(name) is damaged; the values that it seals cannot be opened",
            hint: "restore the ring from a backup, with ld-host restore --keys")
        var rest = bytes[...]
        func take(_ count: Int) throws(StorageError) -> UnsafeRawBufferPointer {
            guard rest.count >= count else { throw damaged }
            defer { rest = rest.dropFirst(count) }
            return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        }
        func number<Number: FixedWidthInteger & BitwiseCopyable>(
            _: Number.Type
        ) throws(StorageError) -> Number {
            Number(bigEndian: try take(MemoryLayout<Number>.size).loadUnaligned(as: Number.self))
        }
        func text() throws(StorageError) -> String {
            guard let text = String(validating: try take(Int(number(UInt16.self))), as: UTF8.self) else {
                throw damaged
            }
            return text
        }
        guard try take(4).elementsEqual(Self.magic) else { throw damaged }
        let version = try take(2)[0]
        guard version == Self.version else {
            throw StorageError(
                .unsupported, "\(name) has version \(version); this program reads version \(Self.version)",
                hint: "use a later version of LocalData")
        }
        var entries: [Entry] = []
        for _ in 0..<(try number(UInt16.self)) {
            let id = KeyID(try take(KeyID.size))
            guard let use = Use(rawValue: try take(1)[0]) else { throw damaged }
            let created = try number(Int64.self)
            let material = try SecretBytes(copying: take(Int(number(UInt16.self))))
            entries.append(Entry(id: id, use: use, created: created, material: material))
        }
        var places: Set<SealedPlace> = []
        for _ in 0..<(try number(UInt32.self)) {
            let identity = try number(UInt64.self)
            let (store, domain, scope, folder) = (try text(), try text(), try text(), try text())
            let place = StorageNamespace(domain: domain, scope: scope, directory: folder.isEmpty ? nil : folder)
            places.insert(SealedPlace(store: store, identity: identity, namespace: place))
        }
        let isSound = Set(entries.map(\.id)).count == entries.count && entries.count { $0.use == .active } <= 1
        guard rest.isEmpty, isSound else { throw damaged }
        self.init(entries: entries, places: places)
    }

    private static func texts(of place: SealedPlace) -> [String] {
        [place.store, place.namespace.domain, place.namespace.scope, place.namespace.directory ?? ""]
    }
}
