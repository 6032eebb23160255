import FoundationEssentials
import LocalDataAPI
import TestSupport
@testable import HostPlugins
@testable import HostSync
@testable import LocalDataHost

/// The crypto plugins that were built with the tests.
enum GroupProvider: String, CaseIterable, Sendable {
    case openssl
    case sodium

    func crypto() throws -> GroupCrypto { try GroupCrypto(provider()) }

    func provider() throws -> LoadedCrypto {
        let file = BuiltProducts.plugin(self == .openssl ? "OpenSSLCrypto" : "SodiumCrypto")
        return try PluginImage.load(file).openCrypto(
            rawValue, options: ResolvedOptions(), host: HostTable.shared(for: SilentLog()))
    }
}

/// Somebody who has seen a code, and reads all that is published.
struct CodeFinder {
    let code: String

    /// The epochs whose keys the code gives.
    func epochs(in device: TestDevice) throws -> Set<EpochID> {
        let invitation = try Invitation(code: code, device.crypto)
        for bytes in device.log.entries {
            guard let box = try PublishedEntry(bytes).invitation, box.id == invitation.id else { continue }
            let keys = try GroupKeys(opening: box, with: invitation, device.crypto)
            return try keys.opening(device.log, with: invitation).knownEpochs
        }
        return []
    }

    func opensCurrent(_ device: TestDevice) throws -> Bool {
        try epochs(in: device).contains(device.state.epoch.id)
    }
}

/// Makes all devices know all entries.
func exchange(_ devices: inout [TestDevice]) throws {
    for target in devices.indices {
        for source in devices.indices where source != target { try devices[target].receive(devices[source]) }
    }
}

/// A group of devices that know each other; the first is the most senior.
///
/// - Parameter isChain: Whether each was invited by the one before, and not by the first.
func makeGroup(of names: [String], isChain: Bool = false, _ crypto: GroupCrypto) throws -> [TestDevice] {
    var devices = [try TestDevice(creating: names[0], crypto)]
    for (number, name) in names.dropFirst().enumerated() {
        let host = isChain ? number : 0
        devices.append(try devices[host].admit(name, at: 2000 + UInt64(number), crypto))
        try devices[host].receive(devices[devices.count - 1])
    }
    try exchange(&devices)
    return devices
}

extension Data {
    /// With one bit changed.
    func changing(bit: Int) -> Data {
        var copy = self
        copy[copy.startIndex + bit / 8] ^= 1 << UInt8(bit % 8)
        return copy
    }
}
