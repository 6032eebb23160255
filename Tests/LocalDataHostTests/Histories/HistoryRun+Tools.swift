import FoundationEssentials
import LocalDataAPI
import TestSupport

@testable import HostGround
@testable import HostSealing
@testable import HostStores
@testable import HostTransfer
@testable import LocalDataHost

/// What users do with `ld-host` between the releases of their app.
extension HistoryRun {
    private static let passphrase = Data("open sesame".utf8)
    /// A cheap derivation.
    private static let style = EnvelopeStyle(
        .chaCha20Poly1305, .pbkdf2(iterations: 1, salt: nil), chunkExponent: 10)

    private func passphrase() throws -> BackupPassphrase {
        .given(try Self.passphrase.withBuffer { (bytes) throws(StorageError) in try SecretBytes(copying: bytes) })
    }

    func backUp() async throws {
        let path = "\(outside.path)/backup\(number)"
        do {
            let report = try await home.program(history.apps[0]).backups.write(
                to: path, passphrase: passphrase(), overwriting: true, style: Self.style)
            log.append("  back up: \(report.values) values")
            guard report.failures.isEmpty else {
                throw Failure(kind: "backup incomplete", words: "the backup lacks \(report.failures)")
            }
        } catch let error as StorageError {
            throw Failure(kind: "backup failed: \(error.code)", words: "the backup failed: \(error)")
        }
        backup = (path, model)
    }

    /// A new machine gets what the last backup has.
    func restore() async throws {
        guard let backup else { return }
        try home.wipe()
        var terms = RestoreTerms()
        terms.overwrites = true
        // Users know where they have chosen to keep files; half of them also keep the keys.
        terms.folders = try NamedFolders(["\(home.path)/folder"])
        terms.takesKeys = number.isMultiple(of: 2)
        let report = try await home.program(history.apps[0]).backups.restore(
            from: backup.path, passphrase: passphrase(), terms)
        log.append("  new machine, restore: \(report.restored) values")
        model = backup.model
        forgiveFolders()
        try strike(afterRestoring: model)
    }

    /// Folders of users are in no backup, unless a catalog names what the app keeps there.
    private func forgiveFolders() {
        for (app, values) in model.values.enumerated() {
            for (value, known) in values.enumerated() {
                let isInFolder =
                    known.isBrought && known.places.contains(.folder)
                    || known.trail.contains { $0.key.place == .folder }
                if isInFolder { model.values[app][value].isUnknown = true }
            }
        }
    }

    private func address(_ key: HistoryKey, _ session: Session) async throws -> String {
        let place = try await session.router.snapshot().settings.place(of: key.place.domain(in: home.path))
        return "\(StorageAddress(place, name: key.name))"
    }

    func setWithTool(_ value: Int, _ session: Session) async throws {
        let key = key(value, session)
        // The program does not know a key's own policy.
        guard !key.isSealed, key.format == .json, key.sources.isEmpty else { return }
        number += 1
        let number = number
        let address = try await address(key, session)
        let text: String
        switch key.type {
        case .text: text = String(history: number)
        case .number: text = "\(number)"
        case .record: text = #"{"title":"record","count":\#(number)}"#
        case .link: return
        }
        let arguments = key.type == .text ? [address, text] : ["--json", address, text]
        let end = try home.runTool(["set"] + arguments)
        log.append("  ld-host set \(arguments.joined(separator: " ")): \(end.outcome) \(end.errorText)")
        guard end.outcome == .exited(code: 0) else { return }
        model.values[session.app][value].content = number
        model.values[session.app][value].isUnknown = false
        note(session, value)
    }

    func getWithTool(_ value: Int, _ session: Session) async throws {
        let key = key(value, session)
        let address = try await address(key, session)
        let end = try home.runTool(["get", address])
        log.append("  ld-host get \(address): \(end.outcome) \(end.errorText)")
        guard end.outcome == .exited(code: 0), let content = model.values[session.app][value].content else { return }
        let text = String(decoding: end.output, as: UTF8.self)
        guard key.format == .json, !text.contains("\(content)") else { return }
        throw Failure(
            kind: "ld-host get wrong",
            words: "ld-host get of \(History.name(of: value)) gave '\(text)', not \(content)")
    }
}
