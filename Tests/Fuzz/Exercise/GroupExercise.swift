import FoundationEssentials
import LocalDataAPI
import ReaderExercise

@testable import HostPlugins
@testable import HostSync
@testable import LocalDataHost

/// The parts of a group's log: entries in signed and in published form, one by one and as a log; and codes of
/// invitations. The provider protects nothing, so that changed bytes get as far as possible.
struct GroupExercise: Sendable {
    private let crypto: GroupCrypto
    private let keys: GroupKeys
    /// A log with entries of every kind, in the order of their creation.
    private let log: [Data]
    /// The same entries in signed form.
    private let signed: [Data]
    private let code: String

    init() throws {
        crypto = try GroupCrypto(EnvelopeExercise.guessableProvider())
        let (first, second) = (
            try Self.device(Data(repeating: 1, count: 32), crypto), try Self.device(Data(2...33), crypto)
        )
        var (log, keys, recovery) = try GroupLog.creating(by: first, named: "first", role: .phone, at: 1000, crypto)
        let invitation = try log.invite(by: first, with: keys, until: 5000, at: 1001).invitation
        let entries = log.entries
        var (joined, _, _) = try GroupLog.joining(
            by: invitation, as: second, named: "zweites Gerät", role: .all, at: 1002, crypto
        ) { take in _ = entries.first { !take($0) } }
        _ = try joined.rekey(by: second, at: 1003)
        log.add(contentsOf: joined.entries)
        _ = try log.acknowledge(by: first, at: 1004)
        joined.add(contentsOf: log.entries)
        // This entry and the removals below are made without knowledge of each other.
        _ = try joined.forget(first.id, by: second, at: 1005)
        var other = log
        _ = try log.remove(second.id, by: first, at: 1005)
        _ = try other.remove(second.id, by: first, at: 1006, with: recovery)
        log.add(contentsOf: other.entries)
        let all = log.entries + joined.entries.suffix(1)
        (self.keys, self.log, code) = (keys, all, invitation.code)
        signed = try all.map { [crypto] entry in
            let published = try PublishedEntry(entry)
            let head = published.invitation.map { 2 + InvitationID.size + 2 + $0.box.count } ?? 2
            return try crypto.open(
                Data(entry.dropFirst(head)), .logBox, with: keys.logKey, authenticating: Data(entry.prefix(head)))
        }
    }

    /// A device with a public key, which is its private one, too.
    private static func device(_ key: Data, _ crypto: GroupCrypto) throws -> DeviceKeys {
        try DeviceKeys(
            decoding: SecretWriter.secret(of: [.bytes([1] + key + [UInt8](repeating: 9, count: 32))]), crypto)
    }

    func run(_ bytes: Data) throws {
        try checkEntry(bytes)
        try checkLog(bytes)
        try checkCode(bytes)
    }

    /// Checks that an accepted entry has one form.
    private func checkEntry(_ bytes: Data) throws {
        let isGenesis = bytes.count > 1 && bytes[1] == GroupEntry.Kind.genesis.rawValue
        let named = isGenesis ? try GroupEntry.id(of: bytes, crypto) : EntryID(bytes.dropFirst(2).prefix(EntryID.size))
        guard let group = named, let entry = try? GroupEntry(decoding: bytes, of: group, crypto) else { return }
        let again = try GroupEntry.signed(
            entry.body, of: isGenesis ? nil : group, by: try Self.device(entry.authorKey, crypto), at: entry.time,
            after: entry.parents, crypto)
        let signatures = GroupCrypto.signatureSize * (entry.countersigned == nil ? 1 : 2)
        try require(
            again.dropLast(GroupCrypto.signatureSize) == bytes.dropLast(signatures),
            "an entry that was read is written as other bytes")
        try require(entry.profile.map { GroupEntry.isName($0.name) } ?? true, "a device has a name that none may have")
    }

    /// Checks that the log gives the same state whatever the order of its entries, and after it was stored.
    private func checkLog(_ bytes: Data) throws {
        var entries: [Data] = []
        var rest = bytes
        while rest.count >= 2 {
            let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            entries.append(Data(rest.dropFirst(2).prefix(count)))
            rest = rest.dropFirst(2 + count)
        }
        let forth = log(of: entries)
        guard !forth.entries.isEmpty else { return }
        try require(
            log(of: entries.reversed()).state == forth.state,
            "a log says something else if its entries arrive backwards")
        let kept = log(of: forth.entries)
        try require(
            kept.state == forth.state && kept.refused == 0, "a log that was kept is read as another one")
    }

    private func log(of entries: some Sequence<Data>) -> GroupLog {
        var log = GroupLog(of: keys, crypto)
        for entry in entries { _ = try? log.add(entry) }
        return log
    }

    private func checkCode(_ bytes: Data) throws {
        guard let invitation = try? Invitation(code: String(decoding: bytes, as: UTF8.self), crypto) else { return }
        try require(
            try Invitation(code: invitation.code, crypto).code == invitation.code,
            "an invitation's code is read as another one")
    }

    var samples: [[UInt8]] {
        let whole = log.flatMap { [UInt8($0.count >> 8), UInt8(truncatingIfNeeded: $0.count)] + $0 }
        return signed.map { Array($0) } + [whole, Array(code.utf8), Array(code.lowercased().filter { $0 != "-" }.utf8)]
    }
}
