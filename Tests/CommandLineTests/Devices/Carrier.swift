import FoundationEssentials
import TestSupport
import Testing

/// What carries the records of a campaign's devices.
protocol Carrier {
    /// The folders that hold all that passes through it.
    var folders: [String] { get }

    /// Has a device use it.
    ///
    /// - Parameter number: The device's, from 0.
    func connect(_ home: Home, number: Int) throws

    /// Does to it what happens to such a thing: at the end it runs again.
    ///
    /// - Parameter round: How often that was done before.
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
    ///   - folder: An empty folder for what it keeps.
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

    /// Nothing runs here that could be disturbed.
    func disturb(round: Int, _ random: inout SeededGenerator) {}
}

extension Home {
    /// Has sync use a folder.
    func useFolder(_ folder: String) throws {
        try done("config", "set", "sync.options.folder", folder)
        try done("config", "set", "sync.transport", "folder")
    }
}
