import FoundationEssentials
import TestSupport
import Testing

/// A home with sealed values and a second store for the keychain. To read the second store, use a configuration in
/// which it serves the keychain.
struct CopyHome {
    /// The state that one of the two stores shows when it serves the keychain.
    struct View: Equatable {
        /// The keychain's values, by address.
        var secrets: [String: [UInt8]]
        /// Whether the store has the master keys, so that all values sealed with them open.
        var opensTheRest: Bool
    }

    let keys: KeyHome
    var home: Home { keys.home }

    init(_ operation: CopyOperation) throws {
        keys = try KeyHome(isEmpty: false)
        try home.done(
            "config", "set", "stores.\(CopyOperation.destination)",
            "{\"component\":\"file\",\"options\":{\"root\":\"\(home.path)/data/second\"},\"sealing\":\"keyFile\"}")
        let other = "{\"domains\":{\"keychain\":\"\(CopyOperation.destination)\"}}"
        try Data(other.utf8).write(to: URL(filePath: "\(home.path)/other.json"))
        guard operation.overwrites else { return }
        let ending = try home.run(
            "set", KeyHome.overwrittenSecret, "--stdin", input: CopyOperation.older, adding: seenFromDestination)
        guard ending.status == 0 else { throw TestFailure(ending.errors) }
        // Of whole seconds it is not known which value is the later one, so the option decides.
        let touched = try home.shell(
            "found=$(find data/second -name b) && test -n \"$found\" && touch -d 2026-01-01T00:00:00Z $found")
        guard touched.status == 0 else { throw TestFailure(touched.errors) }
    }

    /// The values that are copied.
    var secrets: [String: [UInt8]] { keys.values.filter { $0.key.hasPrefix("keychain:") } }

    /// The state of a store that has everything.
    var all: View { View(secrets: secrets, opensTheRest: true) }

    func source() throws -> View { try view([:]) }

    func destination() throws -> View { try view(seenFromDestination) }

    private var seenFromDestination: [String: String] { ["LOCALDATA_CONFIG": "\(home.path)/other.json"] }

    /// - Throws: `TestFailure` if a value of the keychain cannot be read.
    private func view(_ variables: [String: String]) throws -> View {
        let found = try keys.values(of: "keychain:service", adding: variables)
        let rest = keys.values.filter { !$0.key.hasPrefix("keychain:") }
        var opened: [String: [UInt8]] = [:]
        for domain in keys.sealedByMasterKeys {
            opened.merge((try? keys.values(of: domain, adding: variables)) ?? [:]) { $1 }
        }
        return View(secrets: found, opensTheRest: opened == rest)
    }
}
