import Glibc
import TestSupport
import Testing

/// A home as somebody has it: the habits of its file system, who runs the program there, and under which umask.
struct HabitCell: CustomTestStringConvertible, Sendable {
    /// Who runs the program.
    enum Runner: String, CaseIterable, Sendable {
        case user, root
        /// A user namespace that maps only the user: as root, and as the user.
        case rootOfNamespace, userOfNamespace
    }

    /// Each says what a home's file system does; see `habits.py`.
    static let habits = [
        "mode755", "mode777", "nochmod", "squash", "nolink", "latelinks", "noxattr", "xattrperm", "fold", "nfd",
        "names143", "times2", "readonly", "noexec", "nolocks",
    ]
    static let umasks = ["000", "002", "077", "0177", "0277"]
    /// The bits of the home: private, with the set-group-ID bit alone, one that a group shares, and the sticky folder
    /// of all.
    static let modes: [mode_t] = [0o700, 0o2750, 0o2775, 0o1777]

    let habits: [String]
    let runner: Runner
    let umask: String
    let mode: mode_t

    var testDescription: String {
        "\(habits.joined(separator: ",")) as \(runner.rawValue), umask \(umask), home \(String(mode, radix: 8))"
    }

    /// Each habit and each pair of them, with everybody and everything.
    static let all: [HabitCell] = {
        let pairs = habits.indices.flatMap { first in habits[(first + 1)...].map { [habits[first], $0] } }
        var cells: [HabitCell] = []
        for (turn, habits) in ([[]] + habits.map({ [$0] }) + pairs).enumerated() {
            let runners = Users.mayMakeNamespaces ? Runner.allCases : [.user, .root]
            for (index, runner) in runners.enumerated() {
                for (number, umask) in umasks.enumerated() {
                    let mode = modes[(turn + index + number) % modes.count]
                    cells.append(HabitCell(habits: habits, runner: runner, umask: umask, mode: mode))
                }
            }
        }
        return cells
    }()

    /// The cells of this run: all, or some with each habit among them; those of some habits, as in
    /// `LOCALDATA_HABITS=mode755,nochmod`, if that says so.
    static var wanted: [HabitCell] {
        if let named = TestRun.environment["LOCALDATA_HABITS"] {
            return all.filter { $0.habits.joined(separator: ",") == named }
        }
        guard !TestRun.isTorture else { return all }
        var generator = SeededGenerator(seed: TestRun.seed)
        let single = habits.compactMap { habit in
            all.filter { $0.habits == [habit] }.randomElement(using: &generator)
        }
        return single + all.filter { $0.habits.count == 2 }.shuffled(using: &generator).prefix(4)
    }

    /// The words that run a program as the runner does, before the program's own.
    func command(_ user: Users.User) -> [String] {
        let asUser = ["setpriv", "--reuid=\(user.number)", "--regid=\(user.group)", "--clear-groups", "--"]
        return switch runner {
        case .root: []
        case .user: asUser
        case .rootOfNamespace: asUser + ["unshare", "-r"]
        case .userOfNamespace: asUser + ["unshare", "-U", "--map-current-user"]
        }
    }
}
