internal import ByteCoding
internal import DurableFiles
internal import FoundationEssentials
internal import Glibc
internal import HostGround
internal import HostPlugins
internal import HostStores
internal import HostSync
internal import LocalDataAPI

/// What earlier runs have copied from one store to another, with the times when both stores had written it.
///
/// To replace a domain's store, its values are copied, the configuration is changed, and what is left is moved. Until
/// the change, programs use the first store; from then on, the second. By the times, the move tells which of two
/// different values is the later one, and which value is missing since it was removed.
///
/// Encoded: version 1 (1 byte), the names of both stores, the number of values (4), and of each its domain, scope,
/// folder and name, and the two times in nanoseconds since 1970 UTC (8 each); then the hash of all that. Numbers are
/// big-endian.
struct CopyRecord {
    /// When the source and the destination had written a value.
    struct Times: Equatable {
        let source: Int64
        let target: Int64
    }

    private let names: [String]
    private let file: String
    private var times: [StorageAddress: Times] = [:]
    private var isChanged = false
    /// Whether there is a record that cannot be read. It counts as empty.
    let isUnreadable: Bool
    private static let version: UInt8 = 1
    private static let largest = 1 << 30

    /// The record of copies from one store to another.
    init(from: String, to: String, _ folders: HostSettings.Folders) {
        names = [from, to]
        file = "\(folders.state)/copies/\(StableHash.text(names))"
        let data = HostFile.contents(of: file, ownedByUser: true, limit: Self.largest)
        let decoded = data.flatMap { [names] in Self.decoded($0, names) }
        isUnreadable = decoded == nil && access(file, F_OK) == 0
        times = decoded ?? [:]
    }

    subscript(address: StorageAddress) -> Times? {
        get { times[address] }
        set {
            isChanged = isChanged || times[address] != newValue
            times[address] = newValue
        }
    }

    var addresses: some Collection<StorageAddress> { times.keys }

    /// Saves the record durably; an empty one is no file.
    mutating func save() throws(StorageError) {
        guard isChanged else { return }
        if times.isEmpty {
            try HostFile.remove(file)
        } else {
            try HostFile.write(encoded(), to: file)
        }
        isChanged = false
    }

    private func encoded() -> Data {
        var writer = ByteWriter(.bigEndian, [Self.version])
        for name in names { writer.add(name) }
        writer.add(UInt32(times.count))
        for (address, times) in times {
            for text in [address.place.domain, address.place.scope, address.place.directory, address.name] {
                writer.add(text)
            }
            writer.add(UInt64(bitPattern: times.source))
            writer.add(UInt64(bitPattern: times.target))
        }
        writer.addHash()
        return Data(writer.bytes)
    }

    private static func decoded(_ data: Data, _ names: [String]) -> [StorageAddress: Times]? {
        guard var reader = ByteReader(hashed: .bigEndian, data), reader.number(UInt8.self) == version else {
            return nil
        }
        for name in names { guard reader.optionalText() == .some(.some(name)) else { return nil } }
        guard let count = reader.number(UInt32.self) else { return nil }
        var times: [StorageAddress: Times] = [:]
        for _ in 0..<count {
            guard let domain = reader.optionalText() ?? nil, let scope = reader.optionalText() ?? nil,
                let directory = reader.optionalText(), let name = reader.optionalText() ?? nil,
                let source = reader.number(UInt64.self), let target = reader.number(UInt64.self)
            else { return nil }
            let place = StorageNamespace(domain: domain, scope: scope, directory: directory)
            times[StorageAddress(place, name: name)] = Times(
                source: Int64(bitPattern: source), target: Int64(bitPattern: target))
        }
        return reader.isAtEnd ? times : nil
    }
}

extension StoreCopy {
    /// Whether runs remember when they copied a value: of those of apps, but not of what the host keeps.
    func isRecorded(_ address: StorageAddress) -> Bool {
        !address.place.domain.hasPrefix(HostSettings.reservedDomains) && !isShared(address)
    }

    /// What a store knows of the value at an address; `nil` without a value.
    func version(of value: SealedValue) throws(StorageError) -> CopyVersion? {
        try value.attributes(deriving: false).map(CopyVersion.init)
    }

    /// When a store wrote the value at an address; `nil` without a value, or if that is not known.
    func writingTime(of address: StorageAddress, in open: OpenStore) throws(StorageError) -> Int64? {
        try version(of: value(at: address, in: open))?.time
    }

    /// When both stores wrote a value that is the same in both; `nil` if that is not known.
    func times(of address: StorageAddress) throws(StorageError) -> CopyRecord.Times? {
        guard let source = try writingTime(of: address, in: source),
            let target = try writingTime(of: address, in: destination), try compare(address) == .equal
        else { return nil }
        return CopyRecord.Times(source: source, target: target)
    }

    /// A value of the source that the destination's replaces.
    struct Superseded {
        let address: StorageAddress
        /// What the store knew of the value when it was compared.
        let version: CopyVersion
        /// The hash of the opened value, if the version does not identify it.
        let digest: UInt64?
    }

    /// A value of the source as it is now, for ``removeSuperseded(_:)``; `nil` if absent.
    func superseded(_ address: StorageAddress) throws(StorageError) -> Superseded? {
        let value = try value(at: address, in: source)
        guard let version = try version(of: value) else { return nil }
        return Superseded(address: address, version: version, digest: version.time == nil ? try value.digest() : nil)
    }

    /// Removes a value from the source that nobody has changed since it was compared, as the destination's counts.
    func removeSuperseded(_ found: Superseded) throws(StorageError) -> Outcome {
        let value = try value(at: found.address, in: source)
        func isUnchanged() throws(StorageError) -> Bool {
            guard try version(of: value)?.modified == found.version.modified else { return false }
            guard let digest = found.digest else { return true }
            return try value.digest() == digest
        }
        return try whileSourceStands { () throws(StorageError) in
            for _ in 0..<MoveLimits.attempts {
                guard try value.store.exists(value.handle) else { return .gone }
                guard try isUnchanged() else { return .changed }
                if try value.remove(in: source, if: isUnchanged) { return .removed }
            }
            return .changed
        }
    }
}
