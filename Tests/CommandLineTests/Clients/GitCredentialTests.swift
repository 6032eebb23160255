import Testing

@Suite("The credential helper for git")
struct GitCredentialTests {
    private let home: Home

    init() throws { home = try Home() }

    @discardableResult
    private func git(_ operation: String, _ request: String, location: SourceLocation = #_sourceLocation) throws
        -> String
    {
        let ending = try home.run("credential", "git", operation, input: Array(request.utf8))
        #expect(ending.status == 0 && ending.errors.isEmpty, "\(ending.errors)", sourceLocation: location)
        return ending.text
    }

    private static let place = "protocol=https\nhost=example.com\n"

    @Test("returns a stored password, and nothing before it is stored and after it is erased")
    func roundTrip() throws {
        #expect(try git("get", Self.place) == "")
        try git("store", Self.place + "username=ann\npassword=s3cret\n\n")
        #expect(try git("get", Self.place) == "username=ann\npassword=s3cret\n")
        #expect(try git("get", "protocol=http\nhost=example.com\n") == "")
        #expect(try git("get", "protocol=https\nhost=example.com:8443\n") == "")
        try git("erase", Self.place)
        #expect(try git("get", Self.place) == "")
        try git("erase", Self.place)
    }

    @Test(
        "keeps any bytes that a line can contain",
        arguments: [
            "s3cret", "", "-dash", "a=b=c", " spaces ", "tab\tescape\u{1B}", "50%25", "é\u{301}", "in\rside",
        ])
    func anyText(_ value: String) throws {
        try git("store", Self.place + "username=\(value)\npassword=\(value)\n")
        #expect(try git("get", Self.place) == "username=\(value)\npassword=\(value)\n")
        #expect(try git("get", Self.place + "username=\(value)\n") == "username=\(value)\npassword=\(value)\n")
        try git("erase", Self.place + "username=\(value)\npassword=\(value)\n")
        #expect(try git("get", Self.place) == "")
    }

    @Test("keeps bytes that are not text")
    func anyBytes() throws {
        let lines = Array("username=".utf8) + [0xFF, 0x25, 0xC3, 0x0A] + Array("password=".utf8) + [0x80, 0xFE, 0x0A]
        let request = Array(Self.place.utf8) + lines
        #expect(try home.run("credential", "git", "store", input: request).status == 0)
        #expect(try home.run("credential", "git", "get", input: Array(Self.place.utf8)).output == lines)
    }

    @Test(
        "answers nothing to an operation that it does not know, for any input",
        arguments: ["capability", "future", ""])
    func unknownOperation(_ operation: String) throws {
        #expect(try git(operation, "no request\0") == "")
    }

    @Test("returns the requested user, or else the one stored last")
    func users() throws {
        for (user, password) in [("zoe", "z"), ("ann", "a"), ("bob", "b"), ("", "nobody")] {
            try git("store", Self.place + "username=\(user)\npassword=\(password)\n")
        }
        #expect(try git("get", Self.place) == "username=\npassword=nobody\n")
        #expect(try git("get", Self.place + "username=ann\n") == "username=ann\npassword=a\n")
        #expect(try git("get", Self.place + "username=eve\n") == "")
        try git("store", Self.place + "username=zoe\npassword=z2\n")
        #expect(try git("get", Self.place) == "username=zoe\npassword=z2\n")
        try git("erase", Self.place + "username=zoe\n")
        #expect(try git("get", Self.place) == "username=\npassword=nobody\n")
        try git("erase", Self.place)
        #expect(try git("get", Self.place) == "")
    }

    @Test("erases only the password that was refused")
    func eraseCompares() throws {
        let stored = "username=ann\npassword=newer\n"
        try git("store", Self.place + stored)
        try git("erase", Self.place + "username=ann\npassword=older\n")
        try git("erase", Self.place + "password=older\n")
        try git("erase", Self.place + "username=ann\npassword=\n")
        try git("erase", Self.place + "username=bob\npassword=newer\n")
        #expect(try git("get", Self.place) == stored)
        try git("erase", Self.place + "password=newer\n")
        #expect(try git("get", Self.place) == "")
    }

    @Test("a credential with a path serves that path and requests without one, as with git's own helpers")
    func paths() throws {
        try git("store", Self.place + "path=a/b.git\nusername=ann\npassword=path\n")
        #expect(try git("get", Self.place) == "username=ann\npassword=path\n")
        #expect(try git("get", Self.place + "username=bob\n") == "")
        #expect(try git("get", Self.place + "path=a\n") == "")
        #expect(try git("get", "protocol=https\nhost=example.co\n") == "")
        try git("store", Self.place + "username=ann\npassword=host\n")
        #expect(try git("get", Self.place + "path=a/b.git\n") == "username=ann\npassword=path\n")
        #expect(try git("get", Self.place + "path=\n") == "username=ann\npassword=host\n")
        // A rejected password goes from every path; a working password stays.
        try git("store", Self.place + "path=c.git\nusername=ann\npassword=host\n")
        try git("erase", Self.place + "username=ann\npassword=host\n")
        #expect(try git("get", Self.place + "path=c.git\n") == "")
        #expect(try git("get", Self.place) == "username=ann\npassword=path\n")
        try git("erase", Self.place)
        #expect(try git("get", Self.place + "path=a/b.git\n") == "")
    }

    @Test("a password with an expiry is returned until then, and stays for a clock that was ahead")
    func expiry() throws {
        let late = "username=ann\npassword=p\npassword_expiry_utc=18446744073709551615\n"
        try git("store", Self.place + late)
        #expect(try git("get", Self.place) == late)
        // Git sends no expired password; if one is sent anyway, it is not kept.
        try git("store", Self.place + "username=bob\npassword=p\npassword_expiry_utc=1\n")
        #expect(try git("get", Self.place + "username=bob\n") == "")
        // This one expires while it is stored.
        try home.done(
            "set", "keychain:git:https:%2F%2Fexample.com/bob", "--stdin", input: Array("p\npassword_expiry_utc=1".utf8))
        #expect(try git("get", Self.place + "username=bob\n") == "")
        #expect(try home.run("exists", "keychain:git:https:%2F%2Fexample.com/bob").status == 0)
        #expect(try git("get", Self.place) == late)
        let soon = "username=cara\npassword=p\npassword_expiry_utc=4000000000\n"
        try git("store", Self.place + soon)
        let question = "printf 'protocol=https\nhost=example.com\nusername=cara\n\n' | faketime 2099-01-01"
        #expect(try home.shell("\(question) ld-host credential git get").text == "")
        #expect(try git("get", Self.place + "username=cara\n") == soon)
        try git("store", Self.place + "username=ann\npassword=q\npassword_expiry_utc=never\n")
        #expect(try git("get", Self.place) == "username=ann\npassword=q\n")
    }

    @Test("a refresh token is kept, and outlives its password")
    func refreshToken() throws {
        let token = "username=ann\npassword=p\npassword_expiry_utc=99999999999\noauth_refresh_token=r=1\n"
        try git("store", Self.place + token)
        #expect(try git("get", Self.place) == token)
        let address = "keychain:git:https:%2F%2Fexample.com/ann"
        #expect(
            try home.run("get", address).text == "p\npassword_expiry_utc=99999999999\noauth_refresh_token=r=1")
        try home.done(
            "set", address, "--stdin", input: Array("p\npassword_expiry_utc=1\noauth_refresh_token=r=1\n".utf8))
        #expect(try git("get", Self.place) == "username=ann\noauth_refresh_token=r=1\n")
        #expect(try home.run("exists", address).status == 0)
    }

    @Test("a credential of another kind is kept, and returned to clients that understand it")
    func authType() throws {
        let capability = "capability[]=authtype\ncapability[]=state\n"
        let token = "authtype=Bearer\ncredential=dG9rZW4=\n"
        try git("store", Self.place + capability + token + "state[]=other:1\n")
        #expect(try git("get", Self.place) == "")
        #expect(try git("get", Self.place + "capability[]=authtype\ncapability[]=\n") == "")
        #expect(
            try git("get", Self.place + capability + "wwwauth[]=Bearer\n") == "capability[]=authtype\n" + token)
        try git("erase", Self.place + capability + "authtype=Bearer\ncredential=other\n")
        #expect(try git("get", Self.place + capability) == "capability[]=authtype\n" + token)
        try git("erase", Self.place + capability + token)
        #expect(try git("get", Self.place + capability) == "")
        try git("store", Self.place + capability + token + "username=ann\npassword=p\n")
        #expect(try git("get", Self.place) == "username=ann\npassword=p\n")
        #expect(try git("get", Self.place + capability) == "capability[]=authtype\nusername=ann\n" + token)
    }

    @Test("an ephemeral credential is not kept", arguments: [("1", true), ("true", true), ("0", false), ("no", false)])
    func ephemeral(_ value: String, _ isEphemeral: Bool) throws {
        let token = "capability[]=authtype\nauthtype=Bearer\ncredential=t\n"
        try git("store", Self.place + token + "ephemeral=\(value)\n")
        #expect(try git("get", Self.place + token) == (isEphemeral ? "" : token))
    }

    @Test(
        "takes a URL apart as git does",
        arguments: [
            ("https://example.com", "https://example.com"), ("https://example.com/", "https://example.com"),
            ("https://example.com//a/b//", "https://example.com/a/b"),
            ("https://example.com:80?q", "https://example.com:80/?q"),
            ("https://ex%41mple.com/%C3%BC%20", "https://exAmple.com/ü "), ("cert:///a/b", "cert:///a/b"),
            ("https://exämple.com", "https://exämple.com"), ("https://a%2Fb/c", "https://a%2Fb/c"),
            ("https://%zz%4/c%", "https://%25zz%254/c%25"),
        ])
    func url(_ url: String, _ service: String) throws {
        try git("store", "host=other\nurl=\(url)\nusername=ann\npassword=p\n")
        #expect(try git("get", "url=\(url)\n") == "username=ann\npassword=p\n")
        let listed = try home.run("ls").text
        let escaped = service.replacing("%", with: "%25").replacing("/", with: "%2F")
        #expect(listed == "keychain:git:\(escaped)/ann\n")
    }

    @Test("takes user and password from a URL, and later attributes override them")
    func urlWithPassword() throws {
        try git("store", "url=https://ann%3A:p%40%3A:@example.com/\nhost=example.org\n")
        #expect(
            try git("get", "protocol=https\nhost=example.org\n") == "username=ann:\npassword=p@::\n")
    }

    @Test("keeps nothing of a request that has no password")
    func nothingToStore() throws {
        try git("store", Self.place + "username=ann\n")
        try git("store", Self.place + "username=ann\nauthtype=Bearer\n")
        #expect(try home.run("ls").text == "")
    }

    @Test("returns no value of more than one line")
    func foreign() throws {
        for (name, value) in [("a%0Apassword=evil", "p"), ("b", "p\0q")] {
            try home.done("set", "keychain:git:https:%2F%2Fexample.com/\(name)", "--stdin", input: Array(value.utf8))
        }
        #expect(try git("get", Self.place) == "")
    }
}
