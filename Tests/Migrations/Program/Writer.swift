internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost

/// Writes numbered values endlessly, and checks the stored ones, while the test disturbs the store.
///
/// A value repeats its number up to 20 kB, as often as the number determines, so a torn value is visible.
enum Writer {
    /// The number of tasks that write; each has separate names.
    static let tasks = 4
    /// The number of names of a task. Number n goes to name n modulo this, so a loss stays visible for that many
    /// writes.
    static let names = 250

    /// Writes until the standard input ends. Prints a line after each write: `done TASK NUMBER`,
    /// `unknown TASK NUMBER` or `failed TASK NUMBER ERROR`.
    static func write(_ prefix: String) async {
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var number = 0
                    while !isInputEnded {
                        await write(number, prefix, task)
                        number += 1
                    }
                }
            }
        }
    }

    private static func write(_ number: Int, _ prefix: String, _ task: Int) async {
        var outcome = "done \(task) \(number)"
        do {
            try await StorageRouter.shared.set(value(number, task), for: key(prefix, task, number % names))
        } catch StorageError.timedOut {
            outcome = "unknown \(task) \(number)"
        } catch {
            outcome = "failed \(task) \(number) \(error)"
        }
        Program.write("\(outcome)\n", to: STDOUT_FILENO)
        // Gives the check, which runs at the same time, time to end before the names have new values.
        try? await Task.sleep(for: .milliseconds(20))
    }

    /// Prints `TASK NAME NUMBER` for each value, with -1 for a torn one. Absent ones are left out.
    static func check(_ prefix: String) async throws {
        for task in 0..<tasks {
            for name in 0..<names {
                let text: String
                do { text = try await StorageRouter.shared.get(key(prefix, task, name)) } catch StorageError.notFound {
                    continue
                }
                let number = Int(text.prefix { $0 != " " }) ?? -1
                let isWhole = number >= 0 && number % names == name && text == value(number, task)
                Program.write("\(task) \(name) \(isWhole ? number : -1)\n", to: STDOUT_FILENO)
            }
        }
    }

    private static func value(_ number: Int, _ task: Int) -> String {
        let share = number * 7919 % 1000
        let unit = "\(task).\(number) "
        return "\(number) " + String(repeating: unit, count: share * share / 50 / unit.utf8.count)
    }

    private static func key(_ prefix: String, _ task: Int, _ name: Int) -> StorageKey<String> {
        StorageKey(
            name: "\(prefix)-\(task)-\(name)", domain: .userDefaults(suite: "numbers"), security: .none, owner: "Tests",
            description: "A numbered value.")
    }

    private static var isInputEnded: Bool {
        var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) != 0
    }
}
