internal import CLocalData
internal import LocalDataAPI

/// Records in the boundary's format, valid as long as this object. Their bytes are copied into one piece of memory.
final class LentRecords {
    private let bytes: UnsafeMutableRawBufferPointer
    private var records: [ld_sync_record] = []

    init(_ given: ArraySlice<SyncRecord>) {
        let count = given.reduce(0) { $0 + $1.writer.utf8.count + $1.name.utf8.count + $1.content.count }
        bytes = .allocate(byteCount: count, alignment: 1)
        records.reserveCapacity(given.count)
        var used = 0
        func keep(_ part: some Collection<UInt8>) -> ld_bytes {
            let copy = UnsafeMutableRawBufferPointer(rebasing: bytes[used..<used + part.count])
            copy.copyBytes(from: part)
            used += part.count
            return ld_bytes(UnsafeRawBufferPointer(copy))
        }
        for record in given {
            records.append(
                ld_sync_record(
                    size: UInt32(MemoryLayout<ld_sync_record>.size), reserved: 0, writer: keep(record.writer.utf8),
                    name: keep(record.name.utf8), content: keep(record.content)))
        }
    }

    deinit { bytes.deallocate() }

    func withPointers<Result>(_ body: (UnsafeBufferPointer<UnsafePointer<ld_sync_record>?>) -> Result) -> Result {
        records.withUnsafeBufferPointer { records in
            let pointers = (0..<records.count).map { index in records.baseAddress.map { $0 + index } }
            return pointers.withUnsafeBufferPointer { body($0) }
        }
    }
}

/// Names in the boundary's format, valid as long as this object.
final class LentNames {
    private let bytes: UnsafeMutableRawBufferPointer
    private var names: [ld_bytes] = []

    init(_ given: ArraySlice<String>) {
        bytes = .allocate(byteCount: given.reduce(0) { $0 + $1.utf8.count }, alignment: 1)
        names.reserveCapacity(given.count)
        var used = 0
        for name in given {
            let copy = UnsafeMutableRawBufferPointer(rebasing: bytes[used..<used + name.utf8.count])
            copy.copyBytes(from: name.utf8)
            used += copy.count
            names.append(ld_bytes(UnsafeRawBufferPointer(copy)))
        }
    }

    deinit { bytes.deallocate() }

    func withBytes<Result>(_ body: (UnsafeBufferPointer<ld_bytes>) -> Result) -> Result {
        names.withUnsafeBufferPointer { body($0) }
    }
}
