internal import ByteCoding
internal import FoundationEssentials
package import LocalDataAPI

// The fields that records and entries of sync share.
extension ByteWriter {
    package mutating func add(_ version: SyncVersion) {
        add(version.time)
        add(version.author)
    }

    /// Adds the 16 bytes of an id or a hash.
    package mutating func add(_ id: some SyncIdentifier) {
        add(id.high)
        add(id.low)
    }

    package mutating func add(_ history: SyncHistory) {
        let versions = history.versions
        add(UInt16(versions.count))
        for version in versions { add(version) }
    }

    /// Adds a text; `nil` differs from an empty one. One that is longer than ``SyncContent/longestText`` cannot be read
    /// back, and is added for a hash only.
    package mutating func add(_ text: String?) {
        guard let text else { return add(UInt16.max) }
        add(UInt16(min(text.utf8.count, SyncContent.longestText)))
        add(text.utf8)
    }

    /// The attributes that belong to a value on every device.
    mutating func addShared(_ attributes: ValueAttributes) {
        add(attributes.contentType)
        add(attributes.serializer)
        add(attributes.versionTag)
        add(UInt64(bitPattern: attributes.expires ?? 0))
    }

    package mutating func add(_ attributes: ValueAttributes) {
        addShared(attributes)
        add(attributes.appVersion)
        add(attributes.owner)
    }
}

extension ValueAttributes {
    /// The texts that go to other devices with a value.
    var texts: [String] { [contentType, serializer, versionTag, appVersion, owner].compactMap(\.self) }
}

extension ByteReader {
    package mutating func device() -> DeviceID? {
        guard let high = number(UInt64.self), let low = number(UInt64.self) else { return nil }
        return DeviceID(high: high, low: low)
    }

    mutating func hash() -> SyncHash? {
        guard let high = number(UInt64.self), let low = number(UInt64.self) else { return nil }
        return SyncHash(high: high, low: low)
    }

    mutating func syncVersion() -> SyncVersion? {
        guard let time = number(UInt64.self), time <= HybridClock.latest, let author = device() else { return nil }
        return SyncVersion(time: time, author: author)
    }

    mutating func history() -> SyncHistory? {
        guard let count = number(UInt16.self), count <= SyncHistory.mostVersions else { return nil }
        if count == 1 { return syncVersion().map { SyncHistory($0) } }
        var versions: [SyncVersion] = []
        for _ in 0..<count {
            guard let version = syncVersion() else { return nil }
            versions.append(version)
        }
        return SyncHistory(versions)
    }

    /// The outer `nil` means that there is no field.
    package mutating func optionalText() -> String?? {
        guard let count = number(UInt16.self) else { return nil }
        if count == UInt16.max { return .some(nil) }
        guard let bytes = bytes(Int(count)), let text = String(validating: bytes, as: UTF8.self) else { return nil }
        return .some(text)
    }

    package mutating func attributes() -> ValueAttributes? {
        guard let contentType = optionalText(), let serializer = optionalText(), let tag = optionalText(),
            let expires = number(UInt64.self), let appVersion = optionalText(), let owner = optionalText()
        else { return nil }
        return ValueAttributes(
            contentType: contentType, serializer: serializer, versionTag: tag, appVersion: appVersion, owner: owner,
            expires: expires == 0 ? nil : Int64(bitPattern: expires))
    }
}
