import TestSupport

/// Plays the histories of many seeds.
struct HistoryCampaign {
    let kinds: Set<HistoryKind>

    /// What the histories of a campaign have shown.
    struct Findings: Sendable {
        var count = 0
        var reads = 0
        /// Reads that failed with an error that the model allows.
        var refusals = 0
        /// How often each kind of failure came.
        var failures: [String: Int] = [:]
        /// The seeds to look at, by kind of failure.
        fileprivate var seeds: [String: [UInt64]] = [:]
        /// What happened in them.
        fileprivate var logs: [UInt64: String] = [:]
        /// The shortest histories that fail.
        fileprivate(set) var stories: [String] = []

        var summary: String {
            let list = failures.sorted { $0.key < $1.key }.map { "\($0.key) x\($0.value)" }
            return "\(count) histories, \(reads) reads, \(refusals) refusals; \(list.joined(separator: ", "))"
        }
    }

    /// Seeds of one kind of failure that are made shorter and told.
    private static let mostStories = 3
    private static let workers: UInt64 = 3

    /// Plays the histories of some seeds, and makes those that fail as short as possible.
    func failures(_ seeds: Range<UInt64>) async throws -> Findings {
        var findings = try await withThrowingTaskGroup(of: Findings.self) { group in
            for worker in 0..<Self.workers {
                group.addTask(executorPreference: WaitingThreads.shared) {
                    try await play(stride(from: seeds.lowerBound + worker, to: seeds.upperBound, by: Int(Self.workers)))
                }
            }
            return try await group.reduce(into: Findings()) { $0.add($1) }
        }
        var signatures: Set<String> = []
        for (_, seeds) in findings.seeds.sorted(by: { $0.key < $1.key }) {
            for seed in seeds.sorted().prefix(Self.mostStories) {
                let story = try await story(of: seed, findings.logs[seed] ?? "")
                if signatures.insert(story.signature).inserted { findings.stories.append(story.text) }
            }
        }
        return findings
    }

    func history(_ seed: UInt64) -> History {
        var generator = HistoryGenerator(seed: seed, kinds)
        return generator.history()
    }

    private func play(_ seeds: some Sequence<UInt64>) async throws -> Findings {
        var findings = Findings()
        for seed in seeds {
            let run = try HistoryRun(history(seed))
            let failure = try await run.run()
            findings.add(run.reads, run.refusals, failure?.kind, seed)
            if let failure {
                findings.logs[seed] = "\(failure.kind): \(failure.words)\n\(run.log.joined(separator: "\n"))"
            }
        }
        return findings
    }

    private func story(of seed: UInt64, _ log: String) async throws -> (text: String, signature: String) {
        let whole = history(seed)
        guard let first = try await HistoryRun(whole).run() else {
            return ("seed \(seed) has failed, and not when it was tried again\n\(whole.words)\n\(log)", "seed \(seed)")
        }
        let short = try await HistoryShrinker(kind: first.kind).shortest(whole)
        let run = try HistoryRun(short)
        let failure = try await run.run() ?? first
        let text = "\(failure.kind): \(failure.words)\n\(short.words)\n\(run.log.joined(separator: "\n"))"
        return (text, "\(failure.kind) \(short.signature)")
    }

    /// Whether a history fails with a fault, and not without it.
    func finds(_ fault: HistoryFault) async throws -> Bool {
        for seed in 0..<HistoryFault.most {
            guard try await HistoryRun(history(seed), fault).run() != nil else { continue }
            if try await HistoryRun(history(seed)).run() == nil { return true }
        }
        return false
    }
}

extension HistoryCampaign.Findings {
    fileprivate mutating func add(_ reads: Int, _ refusals: Int, _ kind: String?, _ seed: UInt64) {
        (count, self.reads, self.refusals) = (count + 1, self.reads + reads, self.refusals + refusals)
        guard let kind else { return }
        failures[kind, default: 0] += 1
        seeds[kind, default: []].append(seed)
    }

    fileprivate mutating func add(_ other: HistoryCampaign.Findings) {
        (count, reads, refusals) = (count + other.count, reads + other.reads, refusals + other.refusals)
        failures.merge(other.failures, uniquingKeysWith: +)
        seeds.merge(other.seeds, uniquingKeysWith: +)
        logs.merge(other.logs) { first, _ in first }
    }
}
