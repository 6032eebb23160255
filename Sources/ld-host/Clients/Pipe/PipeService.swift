internal import FoundationEssentials
package import LocalDataAPI
package import LocalDataHost
internal import Synchronization

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
    /// - Throws: What makes the input unreadable, after everything before it was answered and the error was sent.
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
            throw PipeFrame.malformed("a header is not a JSON object with an 'id' that is a whole number of 0 or more")
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
            output.send(StorageError(wrapping: error), for: id)
        }
    }
}

extension PipeService {
    /// Does what a request asks for, and answers it.
    func perform(_ request: PipeRequest, _ value: SecretSlice, _ output: PipeOutput) async throws {
        guard value.isEmpty || request.op == .set else {
            throw InvalidPipeRequest("a request '\(request.op.rawValue)' takes no value")
        }
        var response = PipeResponse(id: request.id)
        switch request.op {
        case .version:
            response.protocol = Self.version
            response.version = HostVersion.current
            response.abi = HostVersion.abi
            response.longestValue = PipeFrame.longestValue
        case .list: try await list(request, &response)
        case .get:
            let key = try await key(request)
            guard let value = try await router.secret(for: key, limit: PipeFrame.longestValue) else {
                throw await router.notStored(key)
            }
            return output.send(response, value)
        case .set:
            guard value.count <= PipeFrame.longestValue else {
                throw StorageError(
                    .valueTooLarge, "the value has \(value.count) bytes; expected at most \(PipeFrame.longestValue)"
                )
            }
            let given = GivenValue(for: try await key(request), as: request.form)
            try await router.setSecret(given.bytes(value), for: given.key)
        case .remove: response.removed = try await router.remove(router.unseenKey(at: address(request)))
        case .exists: response.exists = try await router.exists(router.unseenKey(at: address(request)))
        case .attributes:
            let key = try await key(request)
            guard let attributes = try await router.attributes(of: key) else { throw await router.notStored(key) }
            response.attributes = AttributeReport(attributes)
        }
        output.send(response)
    }

    private func list(_ request: PipeRequest, _ response: inout PipeResponse) async throws {
        let limit = request.limit ?? Self.pageSize.usual
        guard (1...Self.pageSize.most).contains(limit) else {
            throw InvalidPipeRequest("a 'limit' of \(limit) is not possible", hint: "1 to \(Self.pageSize.most)")
        }
        // One more than is wanted tells whether there are more.
        let names = try await router.names(
            in: domain(request), prefix: request.prefix ?? "", after: request.after, limit: limit + 1)
        response.names = Array(names.prefix(limit))
        response.more = names.count > limit
    }

    private func domain(_ request: PipeRequest) throws -> StorageDomain {
        guard let domain = request.domain else { throw InvalidPipeRequest("a 'domain' is missing") }
        // It becomes the beginning of an address, which ends there.
        guard !domain.utf8.contains(where: { ":/".utf8.contains($0) }) else {
            throw StorageError(
                .invalidAddress, "the domain '\(domain)' is invalid", hint: "give its scope as 'scope'")
        }
        return try StorageDomain(name: domain, scope: request.scope?.isEmpty == true ? nil : request.scope)
    }

    private func key(_ request: PipeRequest) async throws -> AnyStorageKey {
        try await router.key(at: address(request))
    }

    private func address(_ request: PipeRequest) throws -> String {
        guard let name = request.name else { throw InvalidPipeRequest("a 'name' is missing") }
        return "\(try domain(request))/\(name)"
    }
}

/// A request that makes no sense, though its frame does: it alone fails.
struct InvalidPipeRequest: Error {
    let error: StorageError

    init(_ message: String, hint: String = "see the guide Pipe.md, which is installed in share/doc/localdata") {
        error = StorageError(.deserializationFailed, message, hint: hint)
    }
}

/// Writes answers, one after the other, for any number of tasks.
final class PipeOutput: Sendable {
    private let write: @Sendable (UnsafeRawBufferPointer) -> Void
    private let isWriting = Mutex(())

    init(_ write: @escaping @Sendable (UnsafeRawBufferPointer) -> Void) { self.write = write }

    /// Writes an answer with its value. May wait for the reader.
    func send(_ response: PipeResponse, _ value: SecretBuffer? = nil) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers always have JSON.
        let header = (try? encoder.encode(response)) ?? Data("{}".utf8)
        let start = PipeFrame.start(header: header, valueSize: value?.count ?? 0)
        isWriting.withLock { _ in
            start.withBytes(write)
            if let value, value.count > 0 { value.withBytes(write) }
        }
    }

    /// Writes that a request failed, or with `nil` that no further one can be read.
    func send(_ error: StorageError, for id: UInt64?, code: String? = nil) {
        send(
            PipeResponse(
                id: id,
                error: PipeResponse.Failure(code: code ?? error.code.name, message: error.message, hint: error.hint)))
    }
}

/// The header of a request.
struct PipeRequest: Decodable {
    /// The number that an answer and its request share.
    struct ID: Decodable {
        let id: UInt64
    }

    /// The requested operation.
    enum Operation: String, CaseIterable, Decodable {
        case get, set, remove, exists, list, attributes, version
    }

    let id: UInt64
    let op: Operation
    let domain: String?
    let scope: String?
    let name: String?
    let prefix: String?
    let after: String?
    let limit: Int?
    let form: ValueForm?
}

/// The header of an answer: of what does not concern it nothing is written.
struct PipeResponse: Encodable {
    /// Why a request, or everything from here on, failed.
    struct Failure: Encodable {
        let code: String
        let message: String
        let hint: String
    }

    /// The request's; `nil` if no request can be named.
    var id: UInt64?
    var error: Failure?
    var removed: Bool?
    var exists: Bool?
    var names: [String]?
    var more: Bool?
    var attributes: AttributeReport?
    var `protocol`: Int?
    var version: String?
    var abi: String?
    var longestValue: Int?
}
