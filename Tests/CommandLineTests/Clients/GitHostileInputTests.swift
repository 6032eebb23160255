import Testing

@Suite("The credential helper for git under bad input")
struct GitHostileInputTests {
    private static let place = "protocol=https\nhost=example.com\n"

    @Test(
        "refuses input that is not a request, and shows none of it",
        arguments: [
            (place + "hunter2\n", "line 3 of the request has no '='"),
            (place + "password=hunter2\0\n", "line 3 of the request has a NUL byte"),
            (place + "hunter2", "line 3 of the request has no '='"),
            ("password=hunter2\n", "the request names no protocol"), ("", "the request names no protocol"),
            ("protocol=\nhost=example.com\npassword=hunter2\n", "the request names no protocol"),
            ("protocol=https\npassword=hunter2\n", "the request names no host"),
            ("protocol=https\nhost=\npassword=hunter2\n", "the request names no host"),
            ("protocol=https\nhost=\npath=\npassword=hunter2\n", "the request names no host"),
            ("url=hunter2\n", "line 1 of the request has a URL without a protocol"),
            ("url=://u:hunter2@h\n", "line 1 of the request has a URL without a protocol"),
            ("url=https://u:hunter2%0A@h\n", "line 1 of the request has a URL without a protocol"),
            ("url=https://h%0Ahost=other/hunter2\n", "line 1 of the request has a URL without a protocol"),
            ("url=https://h%00/hunter2\n", "line 1 of the request has a URL without a protocol"),
        ])
    func refusal(_ request: String, _ message: String) throws {
        let home = try Home()
        for operation in ["get", "store", "erase"] {
            let ending = try home.run("credential", "git", operation, input: Array(request.utf8))
            #expect(ending.status == 2)
            #expect(ending.output.isEmpty)
            #expect(ending.errors.hasPrefix("ld-host: error: \(message)"), "\(ending.errors)")
            #expect(!ending.errors.contains("hunter2"))
        }
        #expect(try home.run("ls").text == "")
    }

    @Test(
        "accepts a request with any line endings",
        arguments: [
            "protocol=https\nhost=example.com\nusername=ann\npassword=p",
            "protocol=https\r\nhost=example.com\r\nusername=ann\r\npassword=p\r\n\r\n",
            "protocol=https\nhost=example.com\nusername=ann\npassword=p\n\nusername=bob\nno line\0",
            "protocol=http\nusername=bob\nprotocol=https\nhost=a\nhost=example.com\nusername=ann\npassword=\npassword=p\n",
            "=\n=x\nstrange key=\nüñ=1\nprotocol=https\nhost=example.com\nusername=ann\npassword=p\n",
        ])
    func lineEnds(_ request: String) throws {
        let home = try Home()
        #expect(try home.run("credential", "git", "store", input: Array(request.utf8)).status == 0)
        let ending = try home.run("credential", "git", "get", input: Array(request.utf8))
        #expect(ending.text == "username=ann\npassword=p\n", "\(ending.errors)")
        #expect(try home.run("ls").text == "keychain:git:https:%2F%2Fexample.com/ann\n")
    }

    @Test("takes a line of 64 KiB, refuses a longer one, and skips a long one that helpers ignore")
    func lengths() throws {
        let home = try Home()
        func store(_ more: String) throws -> Home.Ending {
            try home.run("credential", "git", "store", input: Array((Self.place + more).utf8))
        }
        let password = String(repeating: "p", count: 65_536 - "password=".count)
        #expect(try store("username=ann\npassword=\(password)\n").status == 0)
        let given = try home.run("credential", "git", "get", input: Array(Self.place.utf8))
        #expect(given.text == "username=ann\npassword=\(password)\n")
        for line in ["password=\(password)p\n", "password=" + String(repeating: "p", count: 1 << 20)] {
            let ending = try store(line)
            #expect(ending.status == 2)
            #expect(
                ending.errors.contains("line 3 of the request, 'password', has more than 65536 bytes"),
                "\(ending.errors)")
        }
        // Attributes that a server chooses must not make a request fail.
        let long = "wwwauth[]=Basic realm=\"\(String(repeating: "x", count: 3 << 20))\"\n"
        let many = String(repeating: "wwwauth[]=\(String(repeating: "x", count: 1000))\n", count: 1100)
        #expect(try store(long + many + "username=bob\npassword=b\n").status == 0)
        let request = Array((long + Self.place + many + "username=bob\n").utf8)
        #expect(try home.run("credential", "git", "get", input: request).text == "username=bob\npassword=b\n")
    }

    @Test(
        "returns nothing for a user or host that is too long for a key, and refuses to store it",
        arguments: [
            place + "username=\(String(repeating: "u", count: 1025))\n",
            "protocol=https\nhost=\(String(repeating: "h", count: 1025))\nusername=ann\n",
            "protocol=https\nhost=\(String(repeating: "h", count: 1025))\n",
        ])
    func longName(_ request: String) throws {
        let home = try Home()
        let ending = try home.run("credential", "git", "store", input: Array((request + "password=hunter2\n").utf8))
        #expect(ending.status == 2)
        #expect(ending.errors.contains("at most 1024"), "\(ending.errors)")
        #expect(!ending.errors.contains("hunter2"))
        for action in ["get", "erase"] {
            let ending = try home.run("credential", "git", action, input: Array(request.utf8))
            #expect(ending.status == 0 && ending.text == "" && ending.errors == "", "\(ending.errors)")
        }
    }

    @Test("names that a second escape would make equal stay distinct")
    func hostWithSlash() throws {
        let home = try Home()
        for (place, password) in [("host=a/b", "1"), ("host=a\npath=b", "2"), ("host=a%2Fb", "3")] {
            let request = "protocol=https\n\(place)\nusername=ann\npassword=\(password)\n"
            #expect(try home.run("credential", "git", "store", input: Array(request.utf8)).status == 0)
        }
        for (place, password) in [("host=a/b", "1"), ("host=a\npath=b", "2"), ("host=a%2Fb", "3")] {
            let ending = try home.run("credential", "git", "get", input: Array("protocol=https\n\(place)\n".utf8))
            #expect(ending.text == "username=ann\npassword=\(password)\n")
        }
    }
}
