import FoundationEssentials
import TestSupport
import Testing

@Suite("A device whose join record the server loses before the others have read it")
struct LostMemberTests {
    /// Purges the records of the members' log that a device has published, or puts other bytes in their place.
    private static let program = """
        import json, socket, sys
        port, writer, loss = int(sys.argv[1]), sys.argv[2], sys.argv[3]
        connection = socket.create_connection(("127.0.0.1", port))
        lines = connection.makefile("rb")
        connection.sendall(b'CONNECT {"verbose": false}\\r\\nSUB answer 1\\r\\n')
        def ask(subject, content):
            connection.sendall(b"PUB %s answer %d\\r\\n%s\\r\\n" % (subject.encode(), len(content), content))
            for line in lines:
                if line.startswith(b"MSG"): return json.loads(lines.read(int(line.split()[-1])))
        request = json.dumps({"subjects_filter": f"$KV.localdata.{writer}.*"}).encode()
        names = [n for n in ask("$JS.API.STREAM.INFO.KV_localdata", request)["state"]["subjects"] if ".log-" in n]
        for name in names:
            if loss == "garbled": ask(name, b"garbage")
            else: ask("$JS.API.STREAM.PURGE.KV_localdata", json.dumps({"filter": name}).encode())
        print(len(names) > 0)
        """

    @Test("is known to all as soon as they have changed something", arguments: ["purged", "garbled"])
    func joining(_ loss: String) throws {
        let supervisor = try Supervisor()
        let carrier = try NATSCarrier(isSecure: false)
        let keys = CampaignKeys(shared: 3, single: 0)
        let devices = try (0..<3).map { try SyncedDevice($0, keys, over: carrier, supervisor) }
        func set(by device: SyncedDevice) throws {
            try device.home.done("set", "userDefaults/\(CampaignKeys.name(device.number))", "\(device.number).1 ")
        }
        try devices[0].home.done("sync", "init", "--name", "desk")
        for device in devices.dropFirst() {
            for known in devices.prefix(device.number) { try known.home.done("sync", "pull") }
            let code = try devices[0].home.done("sync", "invite").text
            try device.home.done("sync", "join", "--name", "device", input: Array(code.utf8))
        }
        try set(by: devices[2])
        try devices[2].home.done("sync", "push")
        let id = try devices[2].status().device
        let ending = try devices[0].home.shell(
            "python3 - \(carrier.port) \(id) \(loss) <<'END'\n\(Self.program)\nEND")
        #expect(ending.text == "True\n", "\(ending.errors)")
        for round in 0..<4 {
            for device in devices {
                if round == 1 { try set(by: device) }
                try device.home.done("sync", "pull")
            }
        }
        for device in devices {
            #expect(try device.status().members == 3)
            #expect(try device.home.done("get", "userDefaults/\(CampaignKeys.name(2))").text.contains("2.1"))
        }
    }
}
