import FoundationEssentials
import LocalDataAPI
import ReaderExercise

@testable import HostClients
@testable import LocalDataHost

/// Frames of the pipe: read whole and in pieces, and written again.
enum PipeExercise {
    private struct Reading: Equatable {
        var frames: [[UInt8]] = []
        var failure = ""
    }

    static func run(_ bytes: UnsafeRawBufferPointer) throws {
        let whole = read(bytes, pieceSize: max(1, bytes.count))
        for size in [7, 1] where size > 1 || bytes.count <= 256 {
            let pieces = read(bytes, pieceSize: size)
            try require(pieces == whole, "frames in pieces of \(size) bytes are read as others than in one")
        }
        let written = whole.frames.flatMap { $0 }
        try require(bytes.starts(with: written), "frames that were read are written as other bytes")
        try require(!whole.failure.isEmpty || written.count == bytes.count, "bytes behind the last frame are dropped")
    }

    private static func read(_ bytes: UnsafeRawBufferPointer, pieceSize: Int) -> Reading {
        let source = ByteSource(bytes, pieceSize: pieceSize)
        var reading = Reading()
        do throws(StorageError) {
            while let frame = try PipeFrame(from: source.source) {
                let start = PipeFrame.start(header: frame.header, valueSize: frame.value.count)
                reading.frames.append(start.withBytes { Array($0) } + Array(frame.value))
                let header = Data(frame.header)
                if let request = try? JSONDecoder().decode(PipeRequest.self, from: header) {
                    let id = try? JSONDecoder().decode(PipeRequest.ID.self, from: header).id
                    if id != request.id { reading.failure = "a request has no id, or another one" }
                }
            }
        } catch { reading.failure += error.message }
        return reading
    }

    static let samples: [[UInt8]] = {
        let headers = [
            #"{"id":1,"op":"get","domain":"userDefaults","name":"a"}"#,
            #"{"id":18446744073709551615,"op":"set","domain":"keychain","scope":"s","name":"b"}"#,
            #"{"id":3,"op":"list","domain":"fileSystem","prefix":"x","after":"xa","limit":10}"#,
            #"{"op":"version","id":0}"#, "{}", "",
        ]
        let frames = headers.map { header in
            let value: [UInt8] = header.contains("set") ? [1, 2, 3] : []
            return PipeFrame.start(header: header.utf8, valueSize: value.count).withBytes { Array($0) } + value
        }
        return frames + [frames[0] + frames[1] + frames[2], []]
    }()
}
