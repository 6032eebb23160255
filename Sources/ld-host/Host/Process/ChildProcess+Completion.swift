extension ChildProcess {
    /// How a program ended.
    package enum Outcome: Equatable, Sendable, CustomStringConvertible {
        /// It ended by itself.
        case exited(code: Int32)
        /// A signal ended it; the name is as in "SIGABRT".
        case signalled(Int32, name: String)
        /// It was killed because it did not end in this time.
        case timedOut(after: Duration)

        /// A phrase to follow the program's name.
        package var description: String {
            switch self {
            case .exited(let code): "exited with code \(code)"
            case .signalled(let signal, let name): "was ended by signal \(signal) (\(name))"
            case .timedOut(let duration): "did not end within \(duration)"
            }
        }
    }

    /// How a program ended, and its output.
    package struct Completion: Sendable {
        /// How it ended.
        package let outcome: Outcome
        /// The first bytes of its standard output.
        package let output: [UInt8]
        /// Whether it wrote more than `output` holds.
        package let isOutputTruncated: Bool
        /// The last bytes of its standard error.
        package let errorTail: [UInt8]

        /// `errorTail` as text, with what is not UTF-8 replaced.
        package var errorText: String {
            // The cut may have left the end of a character at the front.
            String(decoding: errorTail.drop { $0 & 0xC0 == 0x80 }, as: UTF8.self)
        }
    }
}
