internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost
internal import Synchronization

/// Writes answers, one after the other, whoever they come from.
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
