internal import HostSync
internal import LocalDataAPI

extension RecordSealer {
    /// What comes of opening a record while this is the group's state.
    func opened(_ record: SyncRecord, in state: GroupState) throws(StorageError) -> OpenedRecord {
        guard let writer = DeviceID(text: record.writer), let key = state.device(writer)?.signingKey else {
            return .forged
        }
        do throws(StorageError) {
            let (content, epoch) = try open(record.content, by: writer, signingWith: key, name: record.name)
            return state.epoch.era.contains(epoch) ? .content(content) : .earlierEpoch
        } catch {
            switch error.code {
            case .cannotOpen: return .forged
            // Sealed under a key that has not arrived, or by a later version of this program.
            case .storeUnavailable, .unsupported: return .laterEpoch
            default: throw error
            }
        }
    }
}

extension GroupState.Epoch {
    /// What the engine tells its era from others by; not 0. Within an era, what was published goes on counting.
    var mark: UInt32 { UInt32(truncatingIfNeeded: eraStart.high) | 1 }
}
