internal import LocalDataPluginAPI

extension LinkSession {
    /// Finds the stream, or creates it, and checks that it keeps what it gets; once for each link.
    func prepare(_ names: BucketNames, _ end: StreamEnd) throws(StorageError) {
        guard !link.isPrepared else { return }
        let room = link.server.largestMessage - Self.overhead
        guard room >= options.largestRecord else {
            throw StorageError(
                .storeUnavailable,
                "the server at \(host) accepts messages of at most \(link.server.largestMessage) bytes; records have up "
                    + "to \(options.largestRecord)",
                hint: room < NATSOptions.leastRecord
                    ? "raise the server's max_payload to at least \(NATSOptions.leastRecord + Self.overhead)"
                    : "raise the server's max_payload, or lower option 'largestRecord' to \(room)")
        }
        let seen = end.seen
        let (created, last) = try info(names)
        if end.isLost(created: created, last: last, after: seen) { try beginGeneration(names) }
        link.isPrepared = true
    }

    /// What a message may need for its headers.
    private static let overhead = 1024

    /// The stream's configuration and state; creates the stream if it is missing.
    ///
    /// - Throws: `storeUnavailable` if there is no such stream, or one that would lose records.
    func info(_ names: BucketNames) throws(StorageError) -> (created: String, last: UInt64) {
        let work = "looking for the stream '\(names.stream)'"
        var info: StreamInfo = try ask(names.api("STREAM.INFO"), nil, work)
        if info.error?.number == APIError.noStream, options.creates {
            info = try ask(names.api("STREAM.CREATE"), configuration(names), "creating the stream '\(names.stream)'")
            // Another device may have been faster.
            if info.error?.number == APIError.streamExists { info = try ask(names.api("STREAM.INFO"), nil, work) }
        }
        return try checked(info, names, work)
    }

    /// Reads an answer to a request for the stream.
    func checked(
        _ info: StreamInfo, _ names: BucketNames, _ work: String
    ) throws(StorageError) -> (created: String, last: UInt64) {
        if let error = info.error { throw error.error(work, host) }
        guard let config = info.config, let created = info.created, let state = info.state else {
            throw StorageError(.storeUnavailable, "the server at \(host) did not describe the stream '\(names.stream)'")
        }
        let flaw =
            config.subjects?.contains("\(names.prefix)>") == true
            ? config.flaw(largest: options.largestRecord) : "does not keep '\(names.prefix)>'"
        if let flaw {
            throw StorageError(
                .storeUnavailable, "the stream '\(names.stream)' of the server at \(host) \(flaw)",
                hint: "change the stream, or choose another bucket with option 'bucket'")
        }
        return (created, state.lastSequence)
    }

    private func configuration(_ names: BucketNames) -> StreamConfiguration {
        StreamConfiguration(name: names.stream, subjects: ["\(names.prefix)>"], replicas: options.replicas)
    }
}

// The generation of a stream: see Position.
extension LinkSession {
    /// The current generation.
    func generation(_ names: BucketNames) throws(StorageError) -> UInt64 {
        try lastSequence(of: names.generation, names)
    }

    /// The sequence of the last message of a subject; 0 if it has none.
    func lastSequence(of subject: String, _ names: BucketNames) throws(StorageError) -> UInt64 {
        let work = "reading the stream '\(names.stream)'"
        let answer: StoredMessage = try ask(names.api("STREAM.MSG.GET"), MessageRequest(last: subject), work)
        if let error = answer.error, error.number != APIError.noMessage { throw error.error(work, host) }
        return answer.message?.seq ?? 0
    }

    /// Begins another one, so that all positions are lost.
    func beginGeneration(_ names: BucketNames) throws(StorageError) {
        let work = "marking the stream '\(names.stream)'"
        let answer: Acknowledgement = try ask(names.generation, nil, work)
        if let error = answer.error { throw error.error(work, host) }
    }
}
