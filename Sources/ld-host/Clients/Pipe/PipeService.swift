internal import FoundationEssentials
package import LocalDataAPI
package import LocalDataHost

/// Serves requests that come as frames, and answers each as soon as it is done: one process for many calls of a program
/// in another language. `LocalDataAPI.docc/Pipe.md` is the protocol.
package struct PipeService: Sendable {
    /// Reads input into memory, like read(2): how many bytes came, 0 at the end.
    package typealias Source = @Sendable (UnsafeMutableRawBufferPointer) throws(StorageError) -> Int

    /// The protocol's version.
    static let version = 1
    /// The most requests that are served at a time.
    static let width = 16
    /// The names of a page of `list`, if the request does not say, and at most.
    static let pageSize = (usual: 1000, most: 10_000)

    let router: StorageRouter

    /// Serves what `router` has.
    package init(_ router: StorageRouter) { self.router = router }

    /// Serves until the input ends, and returns when everything is answered.
    ///
    /// - Parameters:
    ///   - source: Reads the input; may wait.
    ///   - write: Takes the output, from one thread at a time; may wait.
    /// - Throws: What makes the input unreadable, after everything before it was answered and the reader was told.
    package func run(
        reading source: @escaping Source, writing write: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws(StorageError) {
        let output = PipeOutput(write)
        // On threads that may wait, each request on one of its own.
        let failure = await Task(executorPreference: IOExecutor.shared) { await serve(reading: source, output) }.value
        guard let failure else { return }
        output.send(failure, for: nil, code: "invalidFrame")
        throw failure
    }

    /// Serves until the input ends or cannot be understood, and returns why.
    private func serve(reading source: Source, _ output: PipeOutput) async -> StorageError? {
        await withTaskGroup(of: Int.self) { group in
            var failure: StorageError?
            var running = 0
            var bytes = 0
            do throws(StorageError) {
                while let frame = try PipeFrame(from: source) {
                    let id = try Self.id(of: frame)
                    // Memory is bounded: as many requests, and as many bytes of values, as fit.
                    while running > 0,
                        running >= Self.width || bytes + frame.value.count > PipeFrame.longestValue,
                        let size = await group.next()
                    {
                        running -= 1
                        bytes -= size
                    }
                    running += 1
                    bytes += frame.value.count
                    group.addTask(executorPreference: IOExecutor.shared) {
                        await answer(frame, id, output)
                        return frame.value.count
                    }
                }
            } catch {
                failure = error
            }
            await group.waitForAll()
            return failure
        }
    }

    private static func id(of frame: PipeFrame) throws(StorageError) -> UInt64 {
        do { return try JSONDecoder().decode(PipeRequest.ID.self, from: Data(frame.header)).id } catch {
            throw PipeFrame.malformed("a header is not a JSON object with an 'id' that is a whole number from 0 on")
        }
    }

    private func answer(_ frame: PipeFrame, _ id: UInt64, _ output: PipeOutput) async {
        let request: PipeRequest
        do {
            request = try JSONDecoder().decode(PipeRequest.self, from: Data(frame.header))
        } catch {
            let operations = PipeRequest.Operation.allCases.map(\.rawValue).joined(separator: ", ")
            let error = StorageError(
                .deserializationFailed, "the request's 'op' is missing or unknown, or a member has the wrong kind",
                hint: "'op' is one of: \(operations)")
            return output.send(error, for: id, code: "invalidRequest")
        }
        do {
            try await perform(request, frame.value, output)
        } catch let error as InvalidPipeRequest {
            output.send(error.error, for: id, code: "invalidRequest")
        } catch {
            output.send((error as? StorageError) ?? StorageError(.unknown, "\(error)"), for: id)
        }
    }
}
