import FoundationEssentials
import TestSupport
import Testing

/// Not covered: `get --json`, `export` and `import` turn values into text, whose memory cannot be cleared.
@Suite("What ld-host leaves in its memory", .serialized)
struct MemoryTests {
    /// Values of less than a chunk, of one, of several, of many. Those of encryptedFileSystem have one envelope, in a
    /// plain store; those of keychain have the store's envelope.
    private static let values = ["keychain:service/k", "encryptedFileSystem/k"].flatMap { address in
        (TestRun.isTorture ? [32, 64 << 10, 300_007, 5 << 20] : [32, 300_007, 5 << 20]).map { (address, $0) }
    }

    @Test(
        "no part of a value or key, after set from a pipe and a file, and get to a pipe and a file",
        arguments: values)
    func value(_ address: String, _ size: Int) throws {
        let home = try Home()
        try making("head -c \(size) /dev/urandom > value", in: home)
        // This also creates the keys.
        let first = try MemoryScan(home, for: ["value"])
        try succeeds(first, "cat value | $SCAN ld-host set \(address) --stdin")
        let secrets = ["value"] + (try StoredKeys(of: home).written(to: home))
        #expect(secrets.count == (address.hasPrefix("keychain") ? 3 : 4))
        for line in [
            "cat value | $SCAN ld-host set \(address) --stdin", "$SCAN ld-host set \(address) --file value",
            "$SCAN ld-host get \(address) | cat > back && cmp back value",
            "$SCAN ld-host get \(address) > back && cmp back value",
        ] { try succeeds(MemoryScan(home, for: secrets), line) }
    }

    @Test("no part of values or keys after a rotation and a reseal")
    func reseal() throws {
        let home = try Home()
        try making(
            """
            for i in 1 2; do head -c 200000 /dev/urandom > value.$i; ld-host set encryptedFileSystem/$i --file value.$i
            done
            head -c 32 /dev/urandom > value.3 && ld-host set keychain:service/k --file value.3
            """, in: home)
        var secrets = ["value.1", "value.2", "value.3"]
        secrets += try StoredKeys(of: home).written(to: home)
        try succeeds(MemoryScan(home, for: secrets), "$SCAN ld-host keys rotate")
        secrets += try StoredKeys(of: home).written(to: home)
        for line in ["reseal --plan", "reseal", "keys list --values", "keys rotate --store sealed-files"] {
            try succeeds(MemoryScan(home, for: secrets), "$SCAN ld-host \(line)")
        }
        secrets += try StoredKeys(of: home).written(to: home)
        try succeeds(MemoryScan(home, for: secrets), "$SCAN ld-host reseal --store sealed-files")
    }

    @Test("no part of a value that is sealed and stored in one piece")
    func wholeValues() throws {
        let home = try Home()
        try making("head -c 300007 /dev/urandom > value && head -c 32 /dev/urandom > key && chmod 600 key", in: home)
        try succeeds(
            MemoryScan(home, for: ["value", "key"]),
            """
            $SCAN ld-host -c stores.whole.component=memory -c stores.whole.sealing.source=keyFile \
                -c stores.whole.sealing.path=$HOME/key -c domains.keychain=whole \
                set keychain:service/k --stdin < value
            """)
    }

    @Test(
        "no part of a large value that went through the pipe in either direction",
        arguments: ["keychain", "encryptedFileSystem"])
    func pipe(_ domain: String) throws {
        let home = try Home()
        let value = (0..<2_100_000).map { _ in UInt8.random(in: 0...255) }
        try Data(value).write(to: URL(filePath: "\(home.path)/value"))
        let address = #""domain":"\#(domain)","scope":"\#(domain == "keychain" ? "s" : "")","name":"k""#
        let frames = [
            PipeExchange.frame(#"{"id":1,"op":"set",\#(address)}"#, value),
            PipeExchange.frame(#"{"id":2,"op":"get",\#(address)}"#),
        ]
        for (index, frame) in frames.enumerated() {
            try Data(frame).write(to: URL(filePath: "\(home.path)/frame.\(index)"))
        }
        let scan = try MemoryScan(home, for: ["value"])
        // The second request is sent after the first one is answered.
        try succeeds(
            scan,
            """
            mkfifo in; $SCAN ld-host pipe < in > out & pid=$!
            exec 3> in; cat frame.0 >&3
            while ! test -s out; do :; done
            cat frame.1 >&3; exec 3>&-; wait $pid && tail -c 2100000 out | cmp - value
            """)
    }

    @Test("no part of a sealed value that sync has published, and that it has taken over", arguments: [40, 60_000])
    func sync(_ size: Int) throws {
        let home = try Home()
        let catalog = #"""
            {"format":1,"name":"Demo","keys":[{"address":"encryptedFileSystem/k","security":"none","serializer":"data",
            "type":"Data","owner":"o","description":"d","availability":"all","sync":"automaticSmall"}]}
            """#
        try making(
            #"""
            printf '%s' '\#(catalog)' > catalog; mkdir shared
            for i in desk laptop; do
            mkdir -m 700 at-$i
            printf '#!/bin/sh\nexport HOME=%s\n' $PWD/at-$i > $i
            printf 'export XDG_CONFIG_HOME=$HOME/c XDG_DATA_HOME=$HOME/d XDG_STATE_HOME=$HOME/s\nexec ld-host "$@"\n' >> $i
            chmod +x $i; ./$i config set catalogs '["'$PWD'/catalog"]'
            ./$i config set sync.options.folder $PWD/shared; ./$i config set sync.transport folder; done
            ./desk sync init --name desk && ./desk sync invite | ./laptop sync join --name laptop && ./desk sync pull
            head -c \#(size) /dev/urandom > value; ./desk set encryptedFileSystem/k --file value
            """#, in: home)
        try succeeds(MemoryScan(home, for: ["value"]), "$SCAN ./desk sync push")
        try succeeds(MemoryScan(home, for: ["value"]), "$SCAN ./laptop sync pull")
        try making("./laptop get encryptedFileSystem/k | cmp - value", in: home)
        try succeeds(MemoryScan(home, for: ["value"]), "$SCAN ./desk sync pull")
        // Another version that loses, and is kept aside.
        try making("head -c \(size) /dev/urandom > other; ./laptop set encryptedFileSystem/k --file other", in: home)
        try making("./desk set encryptedFileSystem/k --file value; ./desk sync push", in: home)
        try succeeds(MemoryScan(home, for: ["value", "other"]), "$SCAN ./laptop sync pull")
        try succeeds(MemoryScan(home, for: ["value", "other"]), "$SCAN ./desk sync pull")
    }

    @Test("no part of a passphrase from a descriptor, right or wrong, and none of the value")
    func passphrase() throws {
        let home = try Home()
        try making(
            """
            head -c 24 /dev/urandom | base64 > right; head -c 24 /dev/urandom | base64 > wrong
            head -c 32 /dev/urandom > value
            """, in: home)
        let secrets = ["right", "wrong", "value"]
        let program = "$SCAN ld-host " + Self.options("fd:5").map { "-c '\($0.0)=\($0.1)'" }.joined(separator: " ")
        try succeeds(MemoryScan(home, for: secrets), "\(program) set keychain:s/k --stdin < value 5< right")
        try succeeds(MemoryScan(home, for: secrets), "\(program) get keychain:s/k 5< right | cmp - value")
        let scan = try MemoryScan(home, for: secrets)
        let ending = try scan.shell("\(program) get keychain:s/k 5< wrong")
        #expect(ending.status == 2 && ending.text == "")
        #expect(try scan.findings().isEmpty)
    }

    @Test("no part of a value or a passphrase that is typed at the terminal")
    func terminal() throws {
        let home = try Home()
        try making("for i in value pass; do head -c 24 /dev/urandom | base64 -w 0 > $i; done", in: home)
        let value = try String(contentsOfFile: "\(home.path)/value", encoding: .utf8)
        let passphrase = try String(contentsOfFile: "\(home.path)/pass", encoding: .utf8)
        let lines = Self.options("terminal").map { "ld-host config set \($0.0) '\($0.1)'" }
        try making(lines.joined(separator: " && "), in: home)
        for command in ["set", "get"] {
            let scan = try MemoryScan(home, for: ["value", "pass"])
            let terminal = try PseudoTerminal(home, command, "keychain:s/k", adding: scan.variables)
            if command == "set" {
                try terminal.wait(for: "value for keychain:s/k: ")
                terminal.type("\(value)\n")
            }
            // The first command asks for it twice.
            let prompts = command == "set" ? ["new passphrase of store 'typed': ", "repeat it: "] : []
            for prompt in prompts.isEmpty ? ["passphrase of store 'typed': "] : prompts {
                try terminal.wait(for: prompt)
                terminal.type("\(passphrase)\n")
            }
            #expect(terminal.end() == 0, "\(terminal.text)")
            #expect(terminal.text.contains(value) == (command == "get"))
            let findings = try scan.findings()
            #expect(findings.isEmpty, "\(command): \(findings)")
        }
    }

    /// A store that is sealed with a passphrase and serves the keychain.
    private static func options(_ from: String) -> [(String, String)] {
        [
            ("stores.typed.component", "file"), ("stores.typed.options.root", "${data}/typed"),
            ("stores.typed.sealing.source", "passphrase"), ("stores.typed.sealing.from", from),
            ("domains.keychain", "typed"),
        ]
    }

    private func making(_ line: String, in home: Home) throws {
        let ending = try home.shell(line)
        try #require(ending.status == 0, "\(ending.errors)")
    }

    private func succeeds(_ scan: MemoryScan, _ line: String) throws {
        let ending = try scan.shell(line)
        #expect(ending.status == 0, "\(line): \(ending.errors)")
        let findings = try scan.findings()
        #expect(findings.isEmpty, "\(line): \(findings)")
    }
}
