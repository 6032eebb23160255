import FoundationEssentials
import Glibc
import LocalDataHost
import TestSupport

/// Syncthing on several machines, all of which are simulated on this one. Each has a copy of one folder, and they are
/// connected over 127.0.0.1 only. Nothing is announced, and nothing else can connect.
struct SyncthingNetwork: Carrier {
    private struct Machine {
        let home: String
        let folder: String
        let port: Int
        let id: String
    }

    private static let program = "/usr/bin/syncthing"
    private let machines: [Machine]
    private let supervisor: Supervisor

    /// Each machine's home has an index of the folder, so it is searched, too.
    var folders: [String] { machines.flatMap { [$0.folder, $0.home] } }

    init(of count: Int, in folder: String, _ supervisor: Supervisor) throws {
        self.supervisor = supervisor
        machines = try (0..<count).map { number in
            let home = "\(folder)/syncthing-\(number)"
            try TemporaryFolder.makeFolder(home)
            try TemporaryFolder.makeFolder("\(folder)/shared-\(number)")
            _ = try Self.run(["generate", "--home=\(home)", "--no-default-folder"], in: home)
            let id = try Self.run(["--home=\(home)", "--device-id"], in: home).prefix { !$0.isNewline }
            return Machine(
                home: home, folder: "\(folder)/shared-\(number)", port: try FreePort.find(), id: String(id))
        }
        for (number, machine) in machines.enumerated() {
            try Data(configuration(of: machine).utf8).write(to: URL(filePath: "\(machine.home)/config.xml"))
            try start(number)
        }
    }

    func connect(_ home: Home, number: Int) throws { try home.useFolder(machines[number].folder) }

    /// Kills Syncthing on one machine, and starts it again after up to two seconds.
    func disturb(round: Int, _ random: inout SeededGenerator) throws {
        let number = Int.random(in: machines.indices, using: &random)
        try supervisor.kill(Self.name(number))
        usleep(UInt32.random(in: 0...2_000_000, using: &random))
        try start(number)
    }

    private static func name(_ number: Int) -> String { "syncthing-\(number)" }

    private func start(_ number: Int) throws {
        let home = machines[number].home
        // With its own monitor process, Syncthing would restart after a kill.
        let variables = Self.environment(home).merging(["STMONITORED": "yes"]) { $1 }
        try supervisor.start(
            Self.name(number), [Self.program, "serve", "--home=\(home)", "--no-browser", "--no-restart"],
            environment: variables, output: "\(home).log")
    }

    private static func environment(_ home: String) -> [String: String] {
        ["HOME": home, "PATH": "/usr/bin:/bin", "STNOUPGRADE": "1"]
    }

    private static func run(_ words: [String], in home: String) throws -> String {
        let completion = try ChildProcess(program, arguments: words, environment: environment(home))
            .run(deadline: .seconds(120))
        guard completion.outcome == .exited(code: 0) else {
            throw TestFailure("\(program) \(words) \(completion.outcome): \(completion.errorText)")
        }
        return String(decoding: completion.output, as: UTF8.self)
    }

    /// The folder that it watches, and the devices that it knows. It notices changes after one second, its shortest
    /// delay.
    private func configuration(of machine: Machine) -> String {
        let known = machines.map {
            """
            <device id="\($0.id)" name="machine" compression="never"><address>tcp://127.0.0.1:\($0.port)</address></device>
            """
        }
        let off = ["globalAnnounce", "localAnnounce", "relays", "nat", "crashReporting"].map {
            "<\($0)Enabled>false</\($0)Enabled>"
        }
        return """
            <configuration version="36">
            <folder id="shared" path="\(machine.folder)" type="sendreceive" rescanIntervalS="10" fsWatcherEnabled="true"
                fsWatcherDelayS="1"><filesystemType>basic</filesystemType>
            \(machines.map { "<device id=\"\($0.id)\"></device>" }.joined(separator: "\n"))
            </folder>
            \(known.joined(separator: "\n"))
            <gui enabled="false"></gui>
            <options><listenAddress>tcp://127.0.0.1:\(machine.port)</listenAddress>\(off.joined())
            <startBrowser>false</startBrowser><urAccepted>-1</urAccepted><autoUpgradeIntervalH>0</autoUpgradeIntervalH>
            <stunKeepaliveStartS>0</stunKeepaliveStartS><reconnectionIntervalS>5</reconnectionIntervalS>
            <setLowPriority>false</setLowPriority></options>
            </configuration>

            """
    }
}
