internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost
internal import TestSupport

/// Changes values that several devices share, one after the other, and records what each change replaced.
///
/// No two changes write the same value: it begins with a label, `DEVICE.NUMBER`. So a test can trace each value.
enum Editor {
    /// `edit DEVICE FIRST LAST KEYS PAUSE` makes the changes with these numbers to so many keys, with a pause of
    /// PAUSE milliseconds on average. `values KEYS` prints `KEY LABEL` for each value. `losers` makes each value that
    /// lost in sync the current one for a moment, and prints its label.
    ///
    /// - Returns: Whether the words are one of these commands.
    static func run(_ words: [String]) async throws -> Bool {
        let numbers = words.dropFirst().compactMap { Int($0) }
        switch (words.first, numbers.count) {
        case ("edit", 5):
            // After the last number, the only thing left to do is to print `end`.
            await edit(
                device: numbers[0], numbers: numbers[1]..<max(numbers[1], numbers[2] + 1), keys: numbers[3],
                pause: numbers[4])
        case ("values", 1): try await printValues(keys: numbers[0])
        case ("losers", 0): try await printLosers()
        default: return false
        }
        return true
    }

    /// Writes a line before each attempt, `try NUMBER KEY LABEL REPLACED` with `-` for no value, and one after each
    /// change: `done NUMBER`, or `failed NUMBER ERROR`. If a change has several attempts, only the last may have taken
    /// effect. Ends with the line `end`.
    private static func edit(device: Int, numbers: Range<Int>, keys: Int, pause: Int) async {
        for number in numbers {
            var random = SeededGenerator(seed: UInt64(device) << 32 | UInt64(number))
            let name = "shared-key-\(Int.random(in: 0..<keys, using: &random))"
            let label = "\(device).\(number)"
            // Every sixth change removes the value.
            let isRemoval = Int.random(in: 0..<6, using: &random) == 0
            do {
                try await StorageRouter.shared.update(key(name)) { value in
                    let old = value.map(Self.label) ?? "-"
                    line("try \(number) \(name) \(isRemoval ? "-" : label) \(old)")
                    value = isRemoval ? nil : Self.value(label)
                }
                line("done \(number)")
            } catch {
                line("failed \(number) \(error)")
            }
            try? await Task.sleep(for: .milliseconds(Int.random(in: 0...2 * pause, using: &random)))
        }
        line("end")
    }

    private static func printValues(keys: Int) async throws {
        for name in (0..<keys).map({ "shared-key-\($0)" }) {
            do {
                line("\(name) \(label(try await StorageRouter.shared.get(key(name))))")
            } catch StorageError.notFound {}
        }
    }

    private static func printLosers() async throws {
        let router = StorageRouter.shared
        let lost = try await router.syncGroup.conflicts()
        if let failure = lost.failures.first { throw failure }
        for loser in lost.values {
            try await router.syncGroup.restoreConflict(loser.id)
            let name = String(loser.address.drop { $0 != "/" }.dropFirst())
            line(label(try await router.get(key(name))))
        }
    }

    /// The label of a value; `torn` if the value is not whole.
    private static func label(_ text: String) -> String {
        let label = String(text.prefix { $0 != " " })
        return text == value(label) ? label : "torn"
    }

    /// The value with a label, of up to 4 kB.
    private static func value(_ label: String) -> String {
        let number = Int(label.drop { $0 != "." }.dropFirst()) ?? 0
        let share = number * 7919 % 64
        return "\(label) " + String(repeating: "readable \(label) ", count: share * share / 20)
    }

    private static func key(_ name: String) -> StorageKey<String> {
        StorageKey(name: name, domain: .userDefaults(), security: .none, owner: "Tests", description: "A shared value.")
    }

    private static func line(_ text: String) { Program.write("\(text)\n", to: STDOUT_FILENO) }
}
