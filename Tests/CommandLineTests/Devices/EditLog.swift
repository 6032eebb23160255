import FoundationEssentials
import TestSupport

/// The changes that the editors of all devices recorded. A label identifies a value; each label was written once.
struct EditLog {
    /// The values that an editor tried to write.
    private(set) var tried: Set<String> = []
    /// The values whose change was acknowledged.
    private(set) var written: Set<String> = []
    /// The values that an acknowledged change replaced or removed.
    private(set) var replaced: Set<String> = []
    /// The values that a change replaced or removed, whose editor was killed before the acknowledgement.
    private(set) var maybeReplaced: Set<String> = []
    /// The changes that failed, with their errors.
    private(set) var failures: [String] = []

    /// The changes that one device's editors have recorded.
    struct Device {
        fileprivate struct Attempt {
            let number: Int
            let label: String?
            let replaced: String?
        }

        /// The last change that was begun; 0 if none was.
        fileprivate(set) var last = 0
        /// Whether all changes were made.
        fileprivate(set) var isEnded = false
        fileprivate var attempts: [(attempt: Attempt, isDone: Bool)] = []
        fileprivate var failures: [String] = []

        /// - Parameter text: The lines of `migration-exercise edit`.
        init(_ text: String) {
            var open: Attempt?
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 4).map(String.init)
                switch (words.first, words.count) {
                case ("try", 5):
                    let number = Int(words[1]) ?? 0
                    // After a refusal, the next attempt of a change has the same number.
                    if let open, open.number != number { attempts.append((open, false)) }
                    open = Attempt(number: number, label: Self.label(words[3]), replaced: Self.label(words[4]))
                    last = number
                case ("done", 2):
                    if let open { attempts.append((open, true)) }
                    open = nil
                case ("end", 1): isEnded = true
                default: failures.append(String(line))
                }
            }
            if let open { attempts.append((open, false)) }
        }

        private static func label(_ word: String) -> String? { word == "-" ? nil : word }
    }

    mutating func add(_ device: Device) {
        for (attempt, isDone) in device.attempts {
            if let label = attempt.label {
                tried.insert(label)
                if isDone { written.insert(label) }
            }
            guard let old = attempt.replaced else { continue }
            if isDone { replaced.insert(old) } else { maybeReplaced.insert(old) }
        }
        failures += device.failures
    }

    /// Adds a value under its own key, which no editor replaces.
    mutating func add(_ label: String, isDone: Bool) {
        tried.insert(label)
        if isDone { written.insert(label) }
    }

    /// The acknowledged values that are missing, though no editor that knew them replaced them.
    ///
    /// - Parameters:
    /// - current: The values that the devices have in the end.
    /// - losers: The values that some device kept after they lost a conflict.
    func lost(current: Set<String>, losers: Set<String>) -> [String] {
        written.subtracting(replaced).subtracting(maybeReplaced).subtracting(current).subtracting(losers).sorted()
    }

    /// The values that reappeared after an acknowledged change had replaced or removed them.
    func returned(current: Set<String>) -> [String] { current.intersection(replaced).sorted() }

    /// The values that no editor wrote.
    func invented(_ values: Set<String>) -> [String] { values.subtracting(tried).sorted() }
}
