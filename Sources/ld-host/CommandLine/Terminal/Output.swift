internal import FoundationEssentials
internal import Glibc
internal import HostClients
internal import LocalDataAPI
internal import LocalDataHost
internal import Synchronization

/// Where results and everything else go: results to standard output, the rest to standard error.
enum Output {
    /// Writes result bytes as they are.
    static func write(_ data: Data) { data.withUnsafeBytes { write($0) } }

    /// Writes result bytes as they are. A reader that has gone ends the program, as it does others.
    static func write(_ bytes: UnsafeRawBufferPointer) { _ = write(bytes, to: StandardOutput.results) }

    /// Writes result bytes that are kept in memory that is cleared.
    static func write(_ secret: SecretBuffer) { secret.withBytes { write($0) } }

    /// Writes a line of a result.
    static func line(_ text: String) { write(Data("\(text)\n".utf8)) }

    /// Writes a sentence of a result: on a terminal in as many lines as it takes, indented from the second on.
    static func sentence(_ text: String, indent: Int) { line(wrapped(text, StandardOutput.results, indent)) }

    /// Writes the lines of a text, each as a sentence that is indented by four more than it is.
    static func sentences(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            sentence(String(line), indent: line.prefix { $0 == " " }.count + 4)
        }
    }

    /// Writes a value as JSON: members in order, one line for each.
    static func json(_ value: some Encodable) throws {
        write(try encoded(value))
        line("")
    }

    /// The output of ``json(_:)``, without the end of the last line.
    static func encoded(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { try JSONTime(nanoseconds: $0.nanoseconds).encode(to: $1) }
        return PrintableText.escaped(json: try encoder.encode(value))
    }

    /// Writes a remark for people.
    static func remark(_ text: String) { say(text) }

    /// Says why the program fails, and what to do.
    static func complain(_ message: String, hint: String) { complain([message], hint: hint) }

    /// Does the same for an error. Several mistakes of a configuration or of options stand on lines of their own.
    static func complain(_ error: StorageError) { complain(error.mistakes, hint: error.hint) }

    /// Does the same for a migration that failed, whose reason may be such mistakes.
    static func complain(_ error: MigrationError) {
        let reason = error.underlying
        complain(StorageError(reason?.code ?? .unknown, error.message, hint: reason?.hint ?? ""))
    }

    private static func complain(_ messages: [String], hint: String) {
        for message in messages { say("ld-host: error: \(message)") }
        if !hint.isEmpty { say("ld-host: hint: \(hint)") }
    }

    private static func say(_ text: String) { note(wrapped("\(Printable(text))", STDERR_FILENO, 4) + "\n") }

    private static func wrapped(_ text: String, _ descriptor: Int32, _ indent: Int) -> String {
        guard let width = Wrapping.width(of: descriptor) else { return text }
        return Wrapping.lines(text, width: width, indent: indent).joined(separator: "\n")
    }

    /// Whether results go to a terminal.
    static var isTerminal: Bool { isatty(StandardOutput.results) == 1 }

    /// Shows a line of text on a terminal that the next one replaces, and whatever else is said; `""` takes it away.
    static func bar(_ text: String) {
        shownBar.withLock { shown in
            let rest = max(0, shown - text.count)
            let blank = String(repeating: " ", count: rest)
            let line = text.isEmpty ? "\r\(blank)\r" : "\r\(text)\(blank)"
            Array(line.utf8).withUnsafeBytes { _ = write($0, to: STDERR_FILENO) }
            shown = text.count
        }
    }

    /// Takes the line away, if one is shown; the next one comes back with its text.
    static func clearBar() {
        if shownBar.withLock({ $0 }) > 0 { bar("") }
    }

    /// How many characters of a bar are on the terminal.
    private static let shownBar = Mutex(0)

    /// Writes to standard error as it is.
    private static func note(_ text: String) {
        clearBar()
        let bytes = Array(text.utf8)
        bytes.withUnsafeBytes { _ = write($0, to: STDERR_FILENO) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                if descriptor == StandardOutput.results {
                    if errno == EPIPE { StandardOutput.endWithoutReader() }
                    let reason = String(cString: strerror(errno))
                    complain("standard output cannot be written: \(reason)", hint: "")
                    ExitGuard.end(ExitStatus.failure.code)
                }
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

/// Text for a line of output, as ``PrintableText`` shows it: a line stays a line, and a terminal is not steered.
struct Printable: CustomStringConvertible {
    let description: String

    init(_ text: String) { description = PrintableText.escaped(text) }
}

/// A JSON array that is written element by element, as ``Output/json(_:)`` writes a whole one.
struct JSONList {
    private let indent: String
    private var isEmpty = true

    /// Begins the array.
    ///
    /// - Parameter indent: The text before its closing bracket.
    init(indent: String = "") {
        self.indent = indent
        Output.write(Data("[".utf8))
    }

    mutating func add(_ element: some Encodable) throws {
        let text = String(decoding: try Output.encoded(element), as: UTF8.self)
        let lines = text.replacing("\n", with: "\n\(indent)  ")
        Output.write(Data("\(isEmpty ? "" : ",")\n\(indent)  \(lines)".utf8))
        isEmpty = false
    }

    /// Ends the array, and the line if it is all that is written.
    func end(line: Bool = true) {
        Output.write(Data("\(isEmpty ? "\n" : "")\n\(indent)]\(line ? "\n" : "")".utf8))
    }
}

extension ProgressLine {
    /// How far a command is, on standard error.
    convenience init(_ label: String, total: Int? = nil, isShown: Bool = true) {
        guard isShown, isatty(STDERR_FILENO) == 1 else {
            let place: Place = isShown ? .lines : .nowhere
            self.init(label, total: total, in: place, after: Self.delay) { Output.remark("ld-host: \($0)") }
            return
        }
        Terminal.beforePrompts { Output.clearBar() }
        self.init(label, total: total, in: .terminal(width: { Self.width }), after: Self.delay) { Output.bar($0) }
    }

    /// How long a command shows nothing, if the environment says so in whole seconds.
    static var delay: Duration? {
        getenv("LOCALDATA_PROGRESS_DELAY").flatMap { UInt32(String(cString: $0)) }.map { .seconds($0) }
    }

    /// How many columns the terminal has, as far as it says so.
    private static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
