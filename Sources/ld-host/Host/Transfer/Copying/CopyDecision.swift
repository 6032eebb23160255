internal import LocalDataAPI

/// Decides which of two different values counts: the one that was written later.
struct CopyDecision {
    let copy: StoreCopy
    let choice: StoreCopyChoice?
    /// Whether an earlier run was interrupted, so that it has copied more than the record says.
    let isResumed: Bool

    /// Two times that are no further apart may be in the wrong order: a file's is rounded down to the kernel's clock
    /// tick.
    static let resolution: Int64 = 10_000_000

    /// Decides for an address at which both stores have a value; `nil` if one of them has none any more.
    ///
    /// - Parameter times: When the two stores wrote the value that an earlier run has copied.
    func difference(at address: StorageAddress, _ times: CopyRecord.Times?) throws(StorageError)
        -> StoreCopyDifference?
    {
        guard let source = try copy.version(of: copy.value(at: address, in: copy.source)),
            let target = try copy.version(of: copy.value(at: address, in: copy.destination))
        else { return nil }
        return StoreCopyDifference(
            address: "\(address)", source: source, destination: target,
            ending: try ending(address, source, target, times))
    }

    private func ending(
        _ address: StorageAddress, _ source: CopyVersion, _ target: CopyVersion, _ times: CopyRecord.Times?
    ) throws(StorageError) -> StoreCopyDifference.Ending {
        if try copy.isHostKey(address) { return .separateKeys }
        // What the host keeps is not written once per change of a value, so its times say nothing.
        if copy.isRecorded(address), let source = source.time, let target = target.time,
            let isSource = isSourceLater(source, target, times)
        {
            return isSource ? .sourceIsLater : .destinationIsLater
        }
        return switch choice {
        case .source: .overwritten
        case .destination: .kept
        case nil: .undecided
        }
    }

    /// Whether the source's value was written later; `nil` if that is not known.
    private func isSourceLater(_ source: Int64, _ target: Int64, _ times: CopyRecord.Times?) -> Bool? {
        if let times {
            // Without the times of the two stores' clocks: one value is as it was copied, the other is not.
            if source == times.source, target > times.target { return false }
            // The copy counts as written when the source had been.
            if target == times.target, source != times.source { return source > times.source }
        }
        guard abs(Int128(source) - Int128(target)) > Self.resolution else { return nil }
        // The interrupted run may have copied the source's value before that was changed, and the copy is not recorded.
        if isResumed, target > source { return nil }
        return source > target
    }
}
