internal import CLocalData

/// The transactions of a store of some Swift type.
class AnyTransactionExport {
    typealias Handle = UnsafeMutableRawPointer

    func begin() throws -> Handle { throw StorageError(.unsupported) }
    func get(_ transaction: Handle, _ handle: Handle, _ sink: UnsafePointer<ld_sink>) throws -> Int32 { LD_ABSENT }
    func set(_ transaction: Handle, _ handle: Handle, _ value: ld_bytes, _ attributes: ValueAttributes?) throws {}
    func remove(_ transaction: Handle, _ handle: Handle) throws -> Int32 { LD_ABSENT }
    func commit(_ transaction: Handle) throws {}
    func rollback(_ transaction: Handle) {}
}

final class TransactionExport<Backend: TransactionalBackend>: AnyTransactionExport {
    private typealias Box = KeyBox<Backend.Transaction>
    private let backend: Backend

    init(_ backend: Backend) { self.backend = backend }

    override func begin() throws -> Handle { Unmanaged.passRetained(Box(try backend.begin())).toOpaque() }

    override func get(_ transaction: Handle, _ handle: Handle, _ sink: UnsafePointer<ld_sink>) throws -> Int32 {
        var stopped = false
        let found = try backend.get(KeyBox<Backend.Key>.key(handle), in: Box.key(transaction)) {
            stopped = !sink.send($0)
        }
        return stopped ? LD_STOPPED : found ? LD_OK : LD_ABSENT
    }

    override func set(
        _ transaction: Handle, _ handle: Handle, _ value: ld_bytes, _ attributes: ValueAttributes?
    ) throws {
        try backend.set(
            KeyBox<Backend.Key>.key(handle), to: value.bytes().bytes, attributes: attributes, in: Box.key(transaction))
    }

    override func remove(_ transaction: Handle, _ handle: Handle) throws -> Int32 {
        try backend.remove(KeyBox<Backend.Key>.key(handle), in: Box.key(transaction)) ? LD_OK : LD_ABSENT
    }

    override func commit(_ transaction: Handle) throws {
        defer { Unmanaged<Box>.fromOpaque(transaction).release() }
        try backend.commit(Box.key(transaction))
    }

    override func rollback(_ transaction: Handle) {
        backend.rollback(Box.key(transaction))
        Unmanaged<Box>.fromOpaque(transaction).release()
    }
}
