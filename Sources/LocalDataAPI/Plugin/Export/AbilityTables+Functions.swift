internal import CLocalData

// The C functions of the ability tables. They are at file scope, so that no isolation is inferred for them.

/// - Parameter member: The ability. A function, as reading through a key path takes longer than many a call.
@inline(__always)
func ability<Backend>(
    _ context: UnsafeMutableRawPointer?, _ member: (StorageAbilities) -> Backend?
) throws -> Backend {
    guard let context,
        let backend = Unmanaged<StorageExport>.fromOpaque(context)._withUnsafeGuaranteedRef({ member($0.abilities) })
    else { throw StorageError(.unsupported, "the store lacks the requested ability") }
    return backend
}

func utf8(_ bytes: ld_bytes) throws -> String {
    guard let text = bytes.text else { throw StorageError(.invalidAddress, "a name at the boundary is not UTF-8") }
    return text
}

func enumerateNames(
    context: UnsafeMutableRawPointer?, place: UnsafePointer<ld_namespace>?, prefix: ld_bytes, after: ld_bytes,
    limit: UInt64, sink: UnsafePointer<ld_sink>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let sink else { throw StorageError(.unsupported, "names was called without a sink") }
        var stopped = false
        try ability(context, \.enumeration).forEachName(
            in: StorageNamespace(place), prefix: utf8(prefix), after: after.count == 0 ? nil : utf8(after),
            limit: limit == 0 ? nil : Int(clamping: limit)
        ) { name in
            stopped = name.withBytes { sink.pointee.write?(sink.pointee.context, $0) } != 0
            return !stopped
        }
        return stopped ? LD_STOPPED : LD_OK
    }
}

func enumeratePlaces(
    context: UnsafeMutableRawPointer?, sink: UnsafePointer<ld_sink>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let sink else { throw StorageError(.unsupported, "places was called without a sink") }
        var stopped = false
        try ability(context, \.enumeration).forEachPlace { place in
            stopped = "\(place.domain)\0\(place.scope)".withBytes { sink.pointee.write?(sink.pointee.context, $0) } != 0
            return !stopped
        }
        return stopped ? LD_STOPPED : LD_OK
    }
}

func readAttributes(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, taker: UnsafeMutableRawPointer?,
    take: (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<ld_attributes>?) -> Void)?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let attributes = try ability(context, \.attributes).attributes(behind: handle) else { return LD_ABSENT }
        return attributes.withBoundary {
            take?(taker, $0)
            return LD_OK
        }
    }
}

func readPieces(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, sink: UnsafePointer<ld_sink>?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let sink else { throw StorageError(.unsupported, "read was called without a sink") }
        var stopped = false
        let found = try ability(context, \.streaming).read(behind: handle) { piece in
            stopped = !sink.send(piece)
            return !stopped
        }
        return stopped ? LD_STOPPED : found ? LD_OK : LD_ABSENT
    }
}

func writePieces(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, source: UnsafePointer<ld_source>?,
    attributes: UnsafePointer<ld_attributes>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let source, let read = source.pointee.read else {
            throw StorageError(.unsupported, "write was called without a source")
        }
        try ability(context, \.streaming).write(
            behind: handle, attributes.map { try ValueAttributes($0) }
        ) { consume in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 4096)
            defer {
                // The piece may have been part of a secret.
                buffer.clear()
                buffer.deallocate()
            }
            while true {
                let count = read(source.pointee.context, buffer.baseAddress, buffer.count)
                guard count >= 0, count <= buffer.count else { throw SinkStopped() }
                guard count > 0 else { return }
                try consume(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]).bytes)
            }
        }
        return LD_OK
    }
}

func applyBatch(
    context: UnsafeMutableRawPointer?, operations: UnsafePointer<UnsafePointer<ld_operation>?>?, count: Int,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        try ability(context, \.batch).apply(
            UnsafeBufferPointer(start: operations, count: operations == nil ? 0 : count))
        return LD_OK
    }
}

func beginWatch(
    context: UnsafeMutableRawPointer?, place: UnsafePointer<ld_namespace>?, prefix: ld_bytes,
    watcher: UnsafePointer<ld_watcher>?, token: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        var known = ld_watcher()
        guard BoundaryStruct.copy(watcher, into: &known, least: ld_watcher_least_size), let token else {
            throw StorageError(.unsupported, "watch was called without a watcher")
        }
        let watcher = known
        token.pointee = try ability(context, \.watch).watched(StorageNamespace(place), utf8(prefix)) { name in
            (name ?? "").withBytes { watcher.changed?(watcher.context, $0) }
        }
        return LD_OK
    }
}

func endWatch(context: UnsafeMutableRawPointer?, token: UnsafeMutableRawPointer?) {
    if let token { try? ability(context, \.watch).unwatch(behind: token) }
}

func beginTransaction(
    context: UnsafeMutableRawPointer?, transaction: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        transaction?.pointee = try ability(context, \.transactions).begun()
        return LD_OK
    }
}

func getInTransaction(
    context: UnsafeMutableRawPointer?, transaction: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?,
    sink: UnsafePointer<ld_sink>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let sink else { throw StorageError(.unsupported, "get was called without a sink") }
        return try ability(context, \.transactions).get(behind: handle, in: transaction, sink)
    }
}

func setInTransaction(
    context: UnsafeMutableRawPointer?, transaction: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?,
    value: ld_bytes, attributes: UnsafePointer<ld_attributes>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        try ability(context, \.transactions).set(
            behind: handle, in: transaction, value, attributes.map { try ValueAttributes($0) })
        return LD_OK
    }
}

func removeInTransaction(
    context: UnsafeMutableRawPointer?, transaction: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) { try ability(context, \.transactions).remove(behind: handle, in: transaction) }
}

func commitTransaction(
    context: UnsafeMutableRawPointer?, transaction: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        try ability(context, \.transactions).commit(behind: checked(transaction))
        return LD_OK
    }
}

func rollbackTransaction(context: UnsafeMutableRawPointer?, transaction: UnsafeMutableRawPointer?) {
    if let transaction { try? ability(context, \.transactions).rollback(behind: transaction) }
}

func checkStore(
    context: UnsafeMutableRawPointer?, sink: UnsafePointer<ld_sink>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let sink else { throw StorageError(.unsupported, "check was called without a sink") }
        var stopped = false
        try ability(context, \.check).check { finding in
            stopped = finding.withBytes { sink.pointee.write?(sink.pointee.context, $0) } != 0
            return !stopped
        }
        return stopped ? LD_STOPPED : LD_OK
    }
}

func repairStore(
    context: UnsafeMutableRawPointer?, sink: UnsafePointer<ld_sink>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let sink else { throw StorageError(.unsupported, "repair was called without a sink") }
        try ability(context, \.repair).repair { line in
            _ = line.withBytes { sink.pointee.write?(sink.pointee.context, $0) }
        }
        return LD_OK
    }
}

func verifyValue(
    context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?, state: UnsafeMutablePointer<UInt32>?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let found = try ability(context, \.verification).verify(behind: handle) else { return LD_ABSENT }
        state?.pointee = found.rawValue
        return LD_OK
    }
}

func wipeStore(
    context: UnsafeMutableRawPointer?, place: UnsafePointer<ld_namespace>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        try ability(context, \.wiping).wipe(StorageNamespace(place))
        return LD_OK
    }
}

func readMany(
    context: UnsafeMutableRawPointer?, place: UnsafePointer<ld_namespace>?, prefix: ld_bytes, after: ld_bytes,
    largest: UInt64, taker: UnsafeMutableRawPointer?,
    take: (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<ld_bulk_value>?) -> Int32)?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let take else { throw StorageError(.unsupported, "read was called without a callback") }
        var stopped = false
        try ability(context, \.bulk).lend(
            StorageNamespace(place), utf8(prefix), after.count == 0 ? nil : utf8(after), Int(clamping: largest)
        ) { value in
            stopped = take(taker, value) != 0
            return !stopped
        }
        return stopped ? LD_STOPPED : LD_OK
    }
}

func applyMany(
    context: UnsafeMutableRawPointer?, changes: UnsafePointer<UnsafePointer<ld_bulk_change>?>?, count: Int,
    teller: UnsafeMutableRawPointer?, conflict: (@convention(c) (UnsafeMutableRawPointer?, Int) -> Void)?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        let changes = try BulkChanges(UnsafeBufferPointer(start: changes, count: changes == nil ? 0 : count))
        let conflicts = try ability(context, \.bulk).apply(changes)
        for index in conflicts { conflict?(teller, index) }
        guard conflicts.isEmpty else {
            throw StorageError(
                .busy, "\(conflicts.count) of \(changes.count) values are not the expected ones",
                hint: "read them again")
        }
        return LD_OK
    }
}
