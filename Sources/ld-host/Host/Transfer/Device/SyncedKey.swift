package import FoundationEssentials
internal import HostGround
internal import HostPlugins
package import HostStores
package import HostSync
package import LocalDataAPI

/// A key whose values take part in sync, with its open store.
package final class SyncedKey: Sendable {
    package let key: AnyStorageKey
    package let resolved: ResolvedKey
    /// The address by which all devices know it.
    package let address: String
    /// The value behind its layers.
    let value: SealedValue
    /// The addresses by which devices that run other releases of the app may know it.
    let formerAddresses: [String]
    /// The addresses of keys of earlier releases whose values migrations bring here.
    package let sourceAddresses: [String]
    /// Where the value was before it was brought here from another place, or removed.
    let origin: SyncOrigin?
    var domain: String { resolved.address.place.domain }

    package init(
        key: AnyStorageKey, resolved: ResolvedKey, formerAddresses: [String] = [], sourceAddresses: [String] = [],
        origin: SyncOrigin? = nil
    ) {
        (self.key, self.resolved, self.origin) = (key, resolved, origin)
        (self.formerAddresses, self.sourceAddresses) = (formerAddresses, sourceAddresses)
        address = "\(resolved.address)"
        value = resolved.sealedValue(resolved.layers)
    }

    /// The attributes that the store keeps beside a value with these.
    package func kept(_ attributes: ValueAttributes) -> ValueAttributes {
        guard resolved.attributes != nil else { return ValueAttributes() }
        var kept = attributes.kept
        if resolved.store.abilities.expiry == nil { kept.expires = nil }
        return kept
    }

    /// Why the value cannot be read; `nil` if it can, or is absent.
    package var reasonToLeaveOut: String? {
        get async {
            let (open, value) = (resolved.open, value)
            do {
                _ = try await open.wait("reading '\(address)'") { () throws(StorageError) in try value.attributed() }
                return nil
            } catch { return error.isOfOneValue ? error.message : nil }
        }
    }

    /// Whether this device's software can use a value.
    package func canUse(_ data: Data, _ attributes: ValueAttributes) -> Bool {
        if let chain = key.chain {
            do throws(MigrationError) { try chain.check(data, attributes.versionTag) } catch { return false }
            return true
        }
        if (try? key.check(data)) != nil { return true }
        guard key.descriptor.serializer == .json, let text = JSONText.string(data, recordedWith: attributes) else {
            return false
        }
        return (try? key.check(text)) != nil
    }
}
