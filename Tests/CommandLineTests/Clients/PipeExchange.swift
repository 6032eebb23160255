import FoundationEssentials

/// Frames of the pipe, as a client writes and reads them.
enum PipeExchange {
    /// An answer's header, and its value.
    struct Answer {
        struct Header: Decodable {
            struct Failure: Decodable {
                let code: String
                let message: String
                let hint: String
            }

            struct Attributes: Decodable {
                let size: UInt64?
                let modified: String?
            }

            let id: UInt64?
            let error: Failure?
            let removed: Bool?
            let exists: Bool?
            let names: [String]?
            let more: Bool?
            let attributes: Attributes?
            let `protocol`: Int?
            let longestValue: Int?
        }

        let header: Header
        let text: String
        let value: [UInt8]
    }

    /// An output that is no sequence of frames.
    struct Malformed: Error {}

    static func number(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }

    /// A frame.
    static func frame(_ header: String, _ value: [UInt8] = []) -> [UInt8] {
        let header = Array(header.utf8)
        return number(4 + header.count + value.count) + number(header.count) + header + value
    }

    /// All answers in an output.
    static func answers(in output: [UInt8]) throws -> [Answer] {
        var rest = output[...]
        func take(_ count: Int) throws -> [UInt8] {
            guard count >= 0, count <= rest.count else { throw Malformed() }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        func number() throws -> Int { try take(4).reduce(0) { $0 << 8 | Int($1) } }
        var answers: [Answer] = []
        while !rest.isEmpty {
            let size = try number()
            let headerSize = try number()
            let header = try take(headerSize)
            answers.append(
                Answer(
                    header: try JSONDecoder().decode(Answer.Header.self, from: Data(header)),
                    text: String(decoding: header, as: UTF8.self), value: try take(size - 4 - headerSize)))
        }
        return answers
    }
}

extension Home {
    /// Sends frames to `ld-host pipe`, one after the other, and returns its answers in the order of their ids.
    func pipe(_ frames: [UInt8]...) throws -> (answers: [PipeExchange.Answer], ending: Ending) {
        let ending = try run("pipe", input: Array(frames.joined()))
        let answers = try PipeExchange.answers(in: ending.output)
        return (answers.sorted { $0.header.id ?? .max < $1.header.id ?? .max }, ending)
    }
}
