internal import LocalDataPluginAPI
internal import ServerAccess

/// One attempt to make changes.
final class ChangeAttempt {
    private(set) var writes: [Write]
    /// The link that is used; `nil` before there is one.
    private(set) var link: ServerLink?
    /// Whether the server may commit, or has.
    private(set) var mayHaveCommitted = false
    /// The numbers that the sequence `change` gave to the changes.
    private(set) var numbers: [Int64] = []
    /// How many statements found a value, and whether the last of these had not expired.
    private(set) var (found, isLive) = (0, false)
    /// The name of a value that was to be stored, and that the server has left out.
    private(set) var leftOut: String?
    private let pool: Pool
    private let deadline: Deadline

    init(pool: Pool, writes: [Write], deadline: Deadline) {
        (self.pool, self.writes, self.deadline) = (pool, writes, deadline)
    }

    var host: String { link?.host ?? pool.hosts }

    /// What became of the changes after the link was lost.
    func outcome(on link: ServerLink, until deadline: Deadline) -> WriteOutcome {
        guard mayHaveCommitted, let first = writes.first else { return .notDone }
        return WriteOutcome.of(first, on: link, pool, until: deadline)
    }

    /// - Returns: The indices of changes whose condition did not hold.
    func make() throws -> [Int] {
        try pool.withLink(until: deadline) { link in
            self.link = link
            try findNumbers(link)
            let isConditional = writes.contains { $0.condition != .anything }
            let isSmall = writes.reduce(0) { $0 + $1.size } <= ValuePieces.threshold
            if isSmall, writes.count == 1 || !isConditional { return try makeAtOnce(link) }
            return try makeInTransaction(link)
        }
    }

    /// Fills in the numbers of the writes' namespaces; those of a batch mostly have the same.
    private func findNumbers(_ link: ServerLink) throws {
        for index in writes.indices {
            if index > 0, writes[index].place == writes[index - 1].place {
                writes[index].number = writes[index - 1].number
                continue
            }
            writes[index].number =
                try pool.schema.number(of: writes[index].place, adding: true, link, until: deadline) ?? 0
        }
    }

    /// The first statements of a transaction: behind a pooler, the one that ``WriteOutcome`` relies on. Some links
    /// remove the old marks of others first, so that no two transactions wait for each other.
    private func entry(_ link: ServerLink) -> [StatementCall] {
        guard let first = writes.first else { return [] }
        return (link.isPooled ? [StatementCall(.enter, [.integer(first.revision)])] : [])
            + (link.mustCleanMarks() ? [StatementCall(.cleanMarks)] : [])
    }

    /// In one exchange, which the server commits.
    private func makeAtOnce(_ link: ServerLink) throws -> [Int] {
        var calls = entry(link)
        let entries = calls.count
        calls.reserveCapacity(entries + writes.count + 1)
        let isSingle = writes.count == 1
        let counts = writes.map { $0.add(to: &calls, marking: isSingle ? link.session : nil) }
        if !isSingle, let first = writes.first { calls.append(first.mark(on: link.session)) }
        mayHaveCommitted = true
        return judge(try link.exchange(calls, until: deadline).dropFirst(entries), from: 0, of: counts)
    }

    /// In an explicit transaction, so that nothing is committed before all conditions are known to hold, and that each
    /// part of large values has its own time.
    private func makeInTransaction(_ link: ServerLink) throws -> [Int] {
        try link.exchange([StatementCall(.begin)] + entry(link), until: deadline)
        do {
            var failed: [Int] = []
            var (pending, first, size) = ([StatementCall](), 0, 0)
            var counts: [Int] = []
            func flush() throws {
                let answers = try link.exchange(pending, until: pool.deadline())
                failed += judge(answers[...], from: first, of: counts)
                (first, pending, counts, size) = (first + counts.count, [], [], 0)
            }
            for write in writes {
                if write.isLarge {
                    if !pending.isEmpty { try flush() }
                    try store(write.pieces, link)
                }
                counts.append(write.add(to: &pending))
                if !write.isLarge { size += write.size }
                if size > ValuePieces.size * ValuePieces.atOnce || pending.count >= 1000 { try flush() }
            }
            try flush()
            guard failed.isEmpty, leftOut == nil else {
                try link.exchange([StatementCall(.rollback)], until: pool.deadline())
                return failed
            }
            mayHaveCommitted = true
            let mark = writes.first.map { [$0.mark(on: link.session)] } ?? []
            try link.exchange(mark + [StatementCall(.commit)], until: pool.deadline())
            return []
        } catch LinkFailure.refused(let error) {
            _ = try? link.exchange([StatementCall(.rollback)], until: pool.deadline())
            throw LinkFailure.refused(error)
        }
    }

    private func store(_ pieces: [StatementCall], _ link: ServerLink) throws {
        for start in stride(from: 0, to: pieces.count, by: ValuePieces.atOnce) {
            try link.exchange(
                Array(pieces[start..<min(start + ValuePieces.atOnce, pieces.count)]), until: pool.deadline())
        }
    }

    /// Collects the numbers of changes.
    ///
    /// - Parameters:
    ///   - first: The index of the first write that the answers belong to.
    ///   - counts: How many answers each write has.
    /// - Returns: The indices of writes whose condition did not hold.
    private func judge(_ answers: ArraySlice<ResultRows>, from first: Int, of counts: [Int]) -> [Int] {
        var (rest, failed) = (answers, [Int]())
        for (index, count) in counts.enumerated() {
            let mine = rest.prefix(count)
            rest = rest.dropFirst(count)
            for answer in mine where answer.count > 0 && answer.columns == Self.reportColumns {
                numbers.append(answer.integer(0))
                isLive = answer.integer(1) != 0
            }
            if mine.first?.count ?? 0 > 0 { found += 1 }
            let write = writes[first + index]
            if !write.isMade(mine) { failed.append(first + index) }
            if write.isLeftOut(mine) { leftOut = leftOut ?? String(decoding: write.name, as: UTF8.self) }
        }
        return failed
    }

    /// The columns that a statement returns which changed a value.
    private static let reportColumns = 3
}
