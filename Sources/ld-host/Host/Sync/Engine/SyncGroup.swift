internal import ByteCoding
package import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// The members of a group and the keys of its records, as the engine sees them.
package protocol SyncGroup: AnyObject {
    /// This device.
    var me: DeviceID { get }
    /// The devices whose records count, the longest in the group first.
    var members: [DeviceID] { get }
    /// Whether a device is or was a member.
    func isKnown(_ device: DeviceID) -> Bool
    /// What tells the newest era of epochs from earlier ones; not 0. A new one begins when a device is removed.
    var epoch: UInt32 { get }
    /// The number of epochs whose keys have arrived here.
    var keyCount: Int { get }

    /// The name of the records of an address: 32 hexadecimal digits.
    func name(of address: String) throws(StorageError) -> String

    /// A keyed hash of 16 bytes.
    func hash(_ bytes: Data) throws(StorageError) -> SyncHash

    /// Seals the contents of records that are published together under the newest epoch.
    func seal(_ contents: [(name: String, content: Data)]) throws(StorageError) -> [Data]

    /// Opens a record.
    func open(_ record: SyncRecord) throws(StorageError) -> OpenedRecord

    /// Takes in a record that is about the group itself, in place of a value. It counts after ``settle()``.
    ///
    /// - Returns: Whether it is such a record.
    func take(_ record: SyncRecord) throws(StorageError) -> Bool

    /// Takes over what the records about the group say that were taken in, and answers it.
    func settle() throws(StorageError)

    /// Whether records about the group that were passed over may count now: all that the transport has is to be read.
    var lacksRecords: Bool { get }

    /// The records about the group that this device is to publish.
    func ownRecords() throws(StorageError) -> [SyncRecord]

    /// Publishes the records about the group again: another member seems not to have them.
    func publishAgain() throws(StorageError)

    /// What is taken in from here on is all that the transport has.
    func beginReading()

    /// All of that was taken in: what this device has published and was not among it, the transport does not have.
    func endReading() throws(StorageError)
}

extension SyncGroup {
    /// Seals one record's content.
    package func seal(_ content: Data, name: String) throws(StorageError) -> Data { try seal([(name, content)])[0] }

    package var keyCount: Int { 0 }
    package func settle() throws(StorageError) {}
    package var lacksRecords: Bool { false }
    package func publishAgain() throws(StorageError) {}
    package func beginReading() {}
    package func endReading() throws(StorageError) {}

    /// The keyed hash of a value with the attributes that belong to it on every device.
    package func hash(of data: Data, _ attributes: ValueAttributes) throws(StorageError) -> SyncHash {
        var writer = ByteWriter(.bigEndian)
        writer.addShared(attributes)
        return try hash(joined(Data(writer.bytes), data))
    }
}
