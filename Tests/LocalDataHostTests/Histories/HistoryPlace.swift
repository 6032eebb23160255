import FoundationEssentials
import LocalDataAPI

/// A place that a key of a history may have.
enum HistoryPlace: String, CaseIterable, Sendable {
    case settings, suite, groupSettings
    case documents, caches, folder, groupFiles
    case sealedDocuments, sealedCaches
    case keychain
    case own, rows

    /// - Parameter home: The folder of the machine.
    func domain(in home: String) -> StorageDomain {
        switch self {
        case .settings: .userDefaults()
        case .suite: .userDefaults(suite: "work")
        case .groupSettings: .appGroupUserDefaults()
        case .documents: .fileSystem()
        case .caches: .fileSystem(directory: .caches)
        case .folder: .fileSystem(directory: .custom(URL(filePath: "\(home)/folder", directoryHint: .isDirectory)))
        case .groupFiles: .appGroupFileSystem()
        case .sealedDocuments: .encryptedFileSystem()
        case .sealedCaches: .encryptedFileSystem(directory: .caches)
        case .keychain: .keychain()
        case .own: .custom(name: "own")
        case .rows: .custom(name: "rows")
        }
    }

    var words: String { "\(domain(in: "HOME"))" }

    /// The places of which each app has its own.
    static let ofOneApp: [HistoryPlace] = [.settings, .documents, .caches, .sealedDocuments, .sealedCaches]

    /// The places whose values have the same address on each device: a folder of the user's has the path of its own.
    static let ofAllDevices = allCases.filter { $0 != .folder }

    /// Whether a sub-directory of the app's files changes the place.
    var isFile: Bool {
        switch self {
        case .documents, .caches, .groupFiles, .sealedDocuments, .sealedCaches: true
        default: false
        }
    }

    /// Whether values are protected there whatever the key says.
    var protects: Bool {
        switch self {
        case .sealedDocuments, .sealedCaches, .keychain: true
        default: false
        }
    }

    /// Whether a key that moves from here to another place is the same key: a suite or a folder that the code names is
    /// part of it.
    func mayBecome(_ other: HistoryPlace) -> Bool {
        let named: [HistoryPlace] = [.suite, .folder]
        guard domain(in: "").name == other.domain(in: "").name, self != other else { return true }
        return !named.contains(self) && !named.contains(other)
    }
}
