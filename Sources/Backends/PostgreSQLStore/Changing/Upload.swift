internal import DurableFiles
internal import LocalDataPluginAPI
internal import ServerAccess

/// A value that arrives in pieces. It stays in memory up to 1 MiB; a larger one is sent in parts of that size.
final class Upload {
    private let store: PostgreSQLStore
    private let key: PostgreSQLKey
    private let attributes: ValueAttributes?
    private var write: Write
    private var checksum = Checksum()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ValuePieces.threshold, alignment: 16)
    private var filled = 0
    private var pieces: Int32 = 0
    /// The link with the open transaction, once a part was sent.
    private var link: ServerLink?

    /// The number of bytes so far.
    var count: Int { checksum.count }
    private var pool: Pool { store.pool }
    private var work: String { "writing '\(key.address)'" }

    init(_ key: PostgreSQLKey, _ attributes: ValueAttributes?, _ store: PostgreSQLStore) {
        (self.key, self.attributes, self.store) = (key, attributes, store)
        write = Write(key, .set(UnsafeRawBufferPointer(start: nil, count: 0), attributes))
    }

    deinit { buffer.wipe() }

    /// Adds the next bytes.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        checksum.add(bytes)
        var rest = bytes[...]
        while !rest.isEmpty {
            if filled == buffer.count { try send() }
            let part = rest.prefix(buffer.count - filled)
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
            filled += part.count
            rest = rest.dropFirst(part.count)
        }
    }

    /// Stores the value.
    func finish() throws {
        let content = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
        guard link != nil else {
            _ = try store.change([Write(key, .set(content, attributes))], work)
            return
        }
        try send()
        guard let link else { return }
        let row = Write.row(write.number, key.name, write.revision, checksum, attributes, content: .null)
        let deadline = pool.deadline()
        do {
            let calls = [StatementCall(.set, row), write.mark(on: link.session), StatementCall(.commit)]
            let answers = try link.exchange(calls, until: deadline.part(3, of: 4))
            store.listener.tell([write], [answers.first?.integer(0) ?? 0])
        } catch LinkFailure.lost(let loss) {
            switch WriteOutcome.of(write, on: link, pool, until: deadline) {
            case .done: store.listener.tell([write], [])
            case .notDone: throw StorageError(loss, work)
            case .unknown:
                store.listener.tell([write], [])
                throw StorageError.unknownOutcome(loss, work)
            }
        } catch LinkFailure.refused(let error) { throw StorageError(error, work, link.host) }
        end()
    }

    /// Ends the transaction without effect if it is open.
    func cancel() {
        if let link { _ = try? link.exchange([StatementCall(.rollback)], until: pool.deadline()) }
        end()
    }

    private func end() {
        if let link { pool.give(link) }
        link = nil
    }

    private func send() throws {
        do {
            let link = try link ?? begin()
            var calls: [StatementCall] = []
            for start in stride(from: 0, to: filled, by: ValuePieces.size) {
                let piece = UnsafeRawBufferPointer(rebasing: buffer[start..<min(start + ValuePieces.size, filled)])
                calls.append(StatementCall(.addPiece, [.integer(write.revision), .short(pieces), .lent(piece)]))
                pieces += 1
            }
            try link.exchange(calls, until: pool.deadline())
            filled = 0
        } catch LinkFailure.lost(let loss) {
            throw StorageError(loss, work)
        } catch LinkFailure.refused(let error) { throw StorageError(error, work, link?.host ?? pool.hosts) }
    }

    private func begin() throws -> ServerLink {
        let deadline = pool.deadline()
        let link = try pool.take(until: deadline, streaming: true)
        self.link = link
        write.number = try pool.schema.number(of: key.place, adding: true, link, until: deadline) ?? 0
        let entry = link.isPooled ? [StatementCall(.enter, [.integer(write.revision)])] : []
        try link.exchange([StatementCall(.begin)] + entry, until: deadline)
        return link
    }
}
