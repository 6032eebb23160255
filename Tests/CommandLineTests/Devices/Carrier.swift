import FoundationEssentials
import TestSupport
import Testing

/// The transport that carries the records of a campaign's devices.
protocol Carrier {
    /// The folders with all data that passes through the carrier.
    var folders: [String] { get }

    /// Configures a device to use the carrier.
    ///
    /// - Parameter number: The device's number, from 0.
    func connect(_ home: Home, number: Int) throws

    /// Disturbs the carrier in the way that its kind is disturbed in reality. It runs again when the function returns.
    ///
    /// - Parameter round: The number of earlier disturbances.
    func disturb(round: Int, _ random: inout SeededGenerator) throws
}

/// The carriers that campaigns run over.
enum CarrierKind: String, CaseIterable, CustomTestStringConvertible {
    case folder, syncthing, nats
    case secureNATS = "nats-tls"

    var testDescription: String {
        switch self {
        case .folder: "one folder that the devices share"
        case .syncthing: "a folder of each device, which Syncthing keeps equal"
        case .nats: "a NATS server"
        case .secureNATS: "a NATS server with TLS and a password"
        }
    }

    /// - Parameters:
    ///   - devices: The number of devices.
    ///   - folder: An empty folder for the carrier's data.
    func make(for devices: Int, in folder: String, _ supervisor: Supervisor) throws -> any Carrier {
        switch self {
        case .folder: try SharedPlace(folder)
        case .syncthing: try SyncthingNetwork(of: devices, in: folder, supervisor)
        case .nats: try NATSCarrier(isSecure: false)
        case .secureNATS: try NATSCarrier(isSecure: true)
        }
    }
}

/// One folder that all devices share, as on a network drive.
struct SharedPlace: Carrier {
    let folders: [String]

    init(_ folder: String) throws {
        folders = ["\(folder)/shared"]
        try TemporaryFolder.makeFolder(folders[0])
    }

    func connect(_ home: Home, number: Int) throws { try home.useFolder(folders[0]) }

    /// A shared folder has no process to disturb.
    func disturb(round: Int, _ random: inout SeededGenerator) {}
}

extension Home {
    /// Configures sync to use a folder.
    func useFolder(_ folder: String) throws {
        try done("config", "set", "sync.options.folder", folder)
        try done("config", "set", "sync.transport", "folder")
    }
}
