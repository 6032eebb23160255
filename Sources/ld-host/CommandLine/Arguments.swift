internal import LocalDataAPI
internal import LocalDataHost

/// The words behind a command, sorted into options and operands.
struct Arguments: Sendable {
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]
    private var flags: Set<String> = []

    /// Whether a flag was given.
    func has(_ name: String) -> Bool { flags.contains(name) }
    /// The last value of an option.
    func value(_ name: String) -> String? { values[name]?.last }
    /// Every value of an option, in order.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// No words.
    static let none = Arguments()

    private init() {}

    /// Takes options out of `words` wherever they stand, up to `--`; what follows that are operands, whatever their
    /// first letter. A dash alone is an operand.
    init(_ words: some Collection<String>, options: [Command.Option]) throws {
        var words = ArraySlice(Array(words))
        var sawEnd = false
        while let word = words.popFirst() {
            if sawEnd || !word.hasPrefix("-") || word == "-" {
                operands.append(word)
            } else if word == "--" {
                sawEnd = true
            } else {
                try take(word, from: &words, options)
            }
        }
    }

    /// The name of an option in a message, if it cannot be a value that begins with a dash: a secret stays unsaid.
    private static func shown(_ name: String) -> String {
        let isName = name.hasPrefix("--") && name.dropFirst(2).allSatisfy { $0 == "-" || ("a"..."z").contains($0) }
        return isName || name.count == 2 ? " '\(name)'" : ""
    }

    private mutating func take(
        _ word: String, from words: inout ArraySlice<String>, _ options: [Command.Option]
    ) throws {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = word.hasPrefix("--") ? parts[0] : word
        guard let option = options.first(where: { $0.name == name || $0.short == name }) else {
            let near =
                name.hasPrefix("--")
                ? EditDistance.nearest(to: name, in: options.map(\.name), within: 2) : nil
            throw UsageError(
                "unknown option\(Self.shown(name))",
                hint: (near.map { "did you mean '\($0)'? " } ?? "")
                    + "put -- before an argument that starts with a dash; see: ld-host help")
        }
        guard option.value != nil else {
            guard parts.count == 1 || !word.hasPrefix("--") else {
                throw UsageError("option '\(name)' takes no value")
            }
            flags.insert(option.name)
            return
        }
        if word.hasPrefix("--"), parts.count == 2 {
            values[option.name, default: []].append(parts[1])
        } else if let value = words.popFirst() {
            values[option.name, default: []].append(value)
        } else {
            throw UsageError("option '\(name)' needs a value: \(option.value ?? "")")
        }
    }
}

/// A command line that makes no sense.
struct UsageError: Error {
    let message: String
    let hint: String

    init(_ message: String, hint: String = "run: ld-host help") {
        self.message = message
        self.hint = hint
    }
}

/// How the program ends.
enum ExitStatus: Int32 {
    case done = 0
    /// The requested value is not stored.
    case notFound = 1
    case failure = 2
    /// The command line makes no sense (EX_USAGE of sysexits.h).
    case usage = 64

    var code: Int32 { rawValue }

    /// The status of Docker's helpers for every failure.
    static let refused = ExitStatus.notFound
}

/// The complaint of a JSON decoder, with the place if it has one.
enum JSONFailure {
    static func text(_ error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context) = error else { return "\(error)" }
        return context.underlyingError.map { "\($0)" } ?? context.debugDescription
    }
}
