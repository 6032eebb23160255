import FoundationEssentials
import TestSupport
import Testing

@Suite("The credential helper for Docker")
struct DockerCredentialTests {
    private let home: Home

    init() throws { home = try Home() }

    private func docker(_ action: String, _ input: String = "") throws -> Home.Ending {
        let ending = try home.run("credential", "docker", action, input: Array(input.utf8))
        #expect(ending.errors == "")
        return ending
    }

    private func store(_ server: String, _ user: String, _ secret: String) throws -> Home.Ending {
        try docker("store", "{\"ServerURL\":\"\(server)\",\"Username\":\"\(user)\",\"Secret\":\"\(secret)\"}\n")
    }

    @Test("stores, lists, reads and erases")
    func roundTrip() throws {
        #expect(try docker("list").text == "{}\n")
        #expect(try store("https://b.example", "bob", "2").output.isEmpty)
        #expect(try store("a.example:5000", "ann", "1").status == 0)
        #expect(try docker("list").text == "{\"a.example:5000\":\"ann\",\"https://b.example\":\"bob\"}\n")
        let read = try docker("get", " https://b.example\r\n")
        #expect(read.status == 0)
        #expect(read.text == "{\"ServerURL\":\"https://b.example\",\"Username\":\"bob\",\"Secret\":\"2\"}\n")
        #expect(try store("https://b.example", "eve", "3").status == 0)
        #expect(try docker("list").text == "{\"a.example:5000\":\"ann\",\"https://b.example\":\"eve\"}\n")
        let erased = try docker("erase", "https://b.example\n")
        #expect(erased.status == 0 && erased.output.isEmpty)
        #expect(try docker("erase", "https://b.example").status == 0)
        #expect(try docker("list").text == "{\"a.example:5000\":\"ann\"}\n")
    }

    @Test(
        "fails with the texts that Docker's clients know, on standard output",
        arguments: [
            ("get", "https://example.com", "credentials not found in native keychain"),
            ("get", "", "no credentials server URL"), ("get", " \n", "no credentials server URL"),
            ("erase", "\t", "no credentials server URL"), ("store", "{}", "no credentials server URL"),
            ("store", #"{"Username":"ann","Secret":"hunter2"}"#, "no credentials server URL"),
            ("store", #"{"ServerURL":"s","Secret":"hunter2"}"#, "no credentials username"),
            ("store", #"{"ServerURL":"s","Username":null,"Secret":"hunter2"}"#, "no credentials username"),
            ("future", "", "docker-credential-localdata: unknown action: future"),
        ])
    func failure(_ action: String, _ input: String, _ message: String) throws {
        let ending = try docker(action, input)
        #expect(ending.status == 1)
        #expect(ending.text == "\(message)\n")
    }

    @Test("prints its usage and its version")
    func usage() throws {
        let usage = "Usage: docker-credential-localdata <store|get|erase|list|version>\n"
        for words in [[], ["get", "https://example.com"]] {
            let ending = try home.run(BuiltProducts.host, ["credential", "docker"] + words)
            #expect(ending.status == 1)
            #expect(ending.text == usage)
        }
        // Docker's clients call the helper by a name of its own.
        let link = "\(home.path)/docker-credential-localdata"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: BuiltProducts.host)
        for word in ["version", "--version", "-v"] {
            let ending = try home.run(link, [word])
            #expect(ending.status == 0)
            #expect(ending.text.hasPrefix("docker-credential-localdata (LocalData) v"), "\(ending.text)")
        }
        for word in ["--help", "-h"] {
            let ending = try home.run(link, [word])
            #expect(ending.status == 0 && ending.text == usage, "\(ending.text)")
        }
    }

    @Test("an entry that is not Docker's does not block the list of the others")
    func foreignEntry() throws {
        #expect(try store("a.example", "ann", "1").status == 0)
        try home.done("set", "keychain:docker/b.example", "--stdin", input: Array("hunter2".utf8))
        #expect(try store("c.example", "cat", "3").status == 0)
        let ending = try home.run("credential", "docker", "list")
        #expect(ending.status == 0)
        #expect(ending.text == "{\"a.example\":\"ann\",\"c.example\":\"cat\"}\n")
        #expect(ending.errors.contains("left out of the list: 'keychain:docker/b.example'"), "\(ending.errors)")
        #expect(!ending.errors.contains("hunter2"))
    }

    @Test("a failure of the store is a failure of the helper, on one line")
    func storeFails() throws {
        try home.done("config", "set", "domains.keychain", "memory", "--anyway")
        let ending = try store("s", "ann", "hunter2")
        #expect(ending.status == 1)
        #expect(ending.text.contains("'keychain:docker/s' has the policy keychain"), "\(ending.text)")
        #expect(ending.text.split(separator: "\n").count == 1)
        #expect(!ending.text.contains("hunter2"))
    }

    @Test(
        "reads JSON as Docker's own helpers do",
        arguments: [
            (#" { "serverurl" : "s" , "USERNAME":"u","secret":"p" } "#, "u", "p"),
            (#"{"ServerURL":"x","ServerURL":"s","Username":"u","Secret":null}"#, "u", ""),
            (#"{"ServerURL":"s","Username":"u","Secret":"p","a":[1,-2.5e3,{"a":[true,null]},"]"],"b":{}}"#, "u", "p"),
            (
                #"{"ServerURL":"\u0073","Username":"\ud83d\udd11\u00fc\"\\\/","Secret":"\b\f\n\r\t\u0000"}"#,
                "\u{1F511}ü\"\\/", "\u{8}\u{c}\n\r\t\0"
            ),
        ])
    func json(_ text: String, _ user: String, _ secret: String) throws {
        #expect(try docker("store", text).status == 0)
        struct Credential: Decodable, Equatable {
            let ServerURL: String
            let Username: String
            let Secret: String
        }
        let read = try JSONDecoder().decode(Credential.self, from: Data(docker("get", "s").output))
        #expect(read == Credential(ServerURL: "s", Username: user, Secret: secret))
    }

    @Test(
        "refuses other JSON, stores nothing, and shows none of it",
        arguments: [
            "", "hunter2", "\"hunter2\"", "[]", "{", #"{"ServerURL":"hunter2"#, #"{"ServerURL":"hunter2}"#,
            #"{"ServerURL":"s","Username":"u","Secret":"hunter2"} x"#, #"{"ServerURL":"s","Username":1}"#,
            #"{"ServerURL":"s","Username":"u","Secret":{"hunter2":1}}"#, #"{"ServerURL":"s",}"#,
            #"{"ServerURL":"s" "Username":"u"}"#, #"{"a":hunter2}"#, #"{"a":"\x"}"#, #"{"a":"\u00g0"}"#,
            #"{"a":"\ud800"}"#, #"{"a":"\ud800\u0041"}"#, "{\"a\":\"hunter2\n\"}", "{\"a\":\"\0\"}", #"{"a":"\"#,
            "{\"a\":" + String(repeating: "[", count: 100_000),
        ])
    func noJSON(_ text: String) throws {
        let ending = try docker("store", text)
        #expect(ending.status == 1)
        #expect(ending.text.hasPrefix("the credential is not the JSON that Docker sends: expected "), "\(ending.text)")
        #expect(!ending.text.contains("hunter2"))
        #expect(try docker("list").text == "{}\n")
    }

    @Test("refuses bytes that are not text, and more than 1 MiB")
    func bytes() throws {
        let invalid = Array(#"{"ServerURL":"s","Username":"u","Secret":""#.utf8) + [0xFF] + Array("\"}".utf8)
        let ending = try home.run("credential", "docker", "store", input: invalid)
        #expect(ending.status == 1)
        #expect(ending.text.contains("expected UTF-8"), "\(ending.text)")
        let long = try store("s", "u", String(repeating: "x", count: 1 << 20))
        #expect(long.status == 1)
        #expect(long.text.contains("more than 1048576 bytes"), "\(long.text)")
        #expect(try docker("list").text == "{}\n")
    }
}
