/// What a hash, derived key, signature or box is for. No two uses have the same label, and none begins another.
enum GroupLabel: String, CaseIterable {
    // Hashes.
    case deviceID = "localdata.sync/1 hash of a device's key;"
    case entryID = "localdata.sync/1 hash of an entry;"
    case invitationBoxHash = "localdata.sync/1 hash of an invitation's box;"
    // Keys that are derived from the group secret.
    case logKey = "localdata.sync/1 key of the log;"
    case nameKey = "localdata.sync/1 key of names;"
    case hashKey = "localdata.sync/1 key of hashes;"
    // What is derived from those.
    case name = "localdata.sync/1 name of an address;"
    case valueHash = "localdata.sync/1 hash of a value;"
    case epochMark = "localdata.sync/1 mark of an epoch;"
    // Derived from an epoch's key, from an agreement, and from the secret of an invitation or a recovery code.
    case recordKey = "localdata.sync/1 key of records;"
    case sharedKey = "localdata.sync/1 key between two devices;"
    case invitationID = "localdata.sync/1 id of an invitation;"
    case invitationSigningKey = "localdata.sync/1 signing key of an invitation;"
    case invitationBoxKey = "localdata.sync/1 box key of an invitation;"
    case invitationAgreementKey = "localdata.sync/1 agreement key of an invitation;"
    case recoverySigningKey = "localdata.sync/1 signing key of a recovery code;"
    // Boxes.
    case logBox = "localdata.sync/1 sealed entry;"
    case epochBox = "localdata.sync/1 sealed key of an epoch;"
    case invitationBox = "localdata.sync/1 sealed keys of a group;"
    case recordBox = "localdata.sync/1 sealed record;"
    // Hashes of records that are published together.
    case recordLeaf = "localdata.sync/1 hash of a record;"
    case recordNode = "localdata.sync/1 hash of two records;"
    // Signatures.
    case entrySignature = "localdata.sync/1 signature of an entry;"
    case recordSignature = "localdata.sync/1 signature of records;"
    case joinSignature = "localdata.sync/1 signature by an invitation;"
    case recoverySignature = "localdata.sync/1 signature by a recovery code;"

    /// The label as UTF-8.
    var bytes: [UInt8] { Array(rawValue.utf8) }
}
