import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Owners, groups and links that mean something else than their bits say.
@Suite("Whose a file is", .enabled(if: Users.areAvailable)) struct OwnersAsRootTests {
    private let users: Users
    private var user: Users.User { users.first }

    init() throws { users = try Users() }

    @Test("a folder of a store that the user must not read is named, and what is in the others is listed and exported")
    func unreadableFolder() throws {
        let host = "ld-host -c domains.userDefaults=file -c domains.custom=file"
        let folder = "$(find \"$HOME\" -type d -name userDefaults@s)"
        let set = try users.shell(
            user, "for a in userDefaults/a userDefaults:s/b custom/c; do \(host) set $a 1; done; chmod 0 \(folder)")
        #expect(set.status == 0, "\(set.errors)")
        for (command, expected) in [
            ("ls", "custom/c\nuserDefaults/a\n"), ("ls userDefaults", "userDefaults/a\n"),
            (
                "export | grep -o '\"[a-z]*[A-Za-z]*/[a-z]\"'; \(host) export > page",
                "\"custom/c\"\n\"userDefaults/a\"\n"
            ),
        ] {
            let ending = try users.shell(user, "cd \"$HOME\" && \(host) \(command)")
            #expect(ending.status == 2 && ending.text == expected, "\(command): \(ending.text)")
            #expect(ending.errors.contains("userDefaults@s': permission denied"), "\(ending.errors)")
        }
        // Nor does it keep the others from a backup, and doctor says where to look.
        let saved = try users.shell(
            user,
            "cd \"$HOME\" && printf word > word && \(host) backup all --passphrase-fd 3 3< word; \(host) doctor; "
                + "\(host) backup some --domain custom --passphrase-fd 3 3< word")
        #expect(saved.text.contains(/\n!! .*cannot list all of its values: .*userDefaults@s': permission denied/))
        #expect(saved.text.contains("2 values of 7 domains are in 'all'"), "\(saved.text)\(saved.errors)")
        #expect(saved.text.contains("1 value of 1 domain is in 'some'"), "\(saved.text)\(saved.errors)")
        #expect(saved.errors.contains("left out: a folder of store 'file': "), "\(saved.errors)")
        _ = try users.shell(user, "chmod 700 \(folder)")
    }

    @Test("a folder of the keychain that a user may not read hides no key ring from a backup")
    func unreadableKeychain() throws {
        let ending = try users.shell(
            user,
            """
            cd "$HOME"; for a in encryptedFileSystem/a keychain:app/a; do printf 1 | ld-host set $a --stdin; done
            chmod 0 "$(find "$HOME" -type d -name keychain@app)"; printf word > word
            ld-host backup all --passphrase-fd 3 3< word; echo "status $?"
            chmod 700 "$(find "$HOME" -type d -name keychain@app)"
            ld-host rm encryptedFileSystem/a; ld-host restore all --passphrase-fd 3 3< word
            ld-host get encryptedFileSystem/a
            """)
        #expect(ending.text.contains(" with 1 key ring and "), "\(ending.text)\(ending.errors)")
        #expect(ending.text.contains("status 2\n") && ending.text.hasSuffix("1"), "\(ending.text)\(ending.errors)")
        #expect(ending.errors.contains("keychain@app': permission denied"), "\(ending.errors)")
    }

    @Test("where nothing can be written, doctor says so; what can be read only is no problem")
    func unwritablePlaces() throws {
        let doctor = try users.shell(
            user, "chmod 555 \"$HOME\"; ld-host doctor; echo \"status $?\"; chmod 755 \"$HOME\"")
        #expect(doctor.text.contains(/\n!! +a folder of LocalData cannot be made: .* is missing, and .* be written/))
        #expect(doctor.text.contains("status 2"), "\(doctor.text)")
        #expect(doctor.text.contains("run: chmod u+wx "), "\(doctor.text)")
        // No advice names the mode of a folder of the system.
        let elsewhere = try users.shell(user, "XDG_DATA_HOME=/usr/lib ld-host doctor; true")
        #expect(elsewhere.text.contains("ask who may write there to make '/usr/lib/"), "\(elsewhere.text)")
        #expect(!elsewhere.text.contains("chmod"), "\(elsewhere.text)")
        let reading = try users.shell(
            user,
            "ld-host -c domains.custom=file set custom/a 1; mkdir -p \"$HOME/.local/state/localdata\"; "
                + "find \"$HOME\" -type d | xargs chmod a-w; "
                + "ld-host doctor; echo \"status $?\"; find \"$HOME\" -type d | xargs chmod u+w")
        #expect(reading.text.contains(/\nok  .* can be read here, and not changed/), "\(reading.text)")
        #expect(reading.text.contains("status 0"), "\(reading.text)")
    }

    @Test(
        "in a user namespace that maps only the user, plugins load",
        .enabled(if: Users.mayMakeNamespaces, "the system lets no user make a namespace"),
        arguments: ["-r", "-U --map-current-user"])
    func namespace(_ options: String) throws {
        for place in ["userDefaults", "keychain:app"] {
            let set = try users.shell(user, "printf 1 | unshare \(options) ld-host set \(place)/a --stdin")
            #expect(set.status == 0, "\(set.errors)")
            let get = try users.shell(user, "unshare \(options) ld-host get \(place)/a")
            #expect(get.status == 0 && get.text == "1", "\(get.errors)")
        }
        let doctor = try users.shell(user, "unshare \(options) ld-host doctor")
        #expect(!doctor.text.contains("!!"), "\(doctor.text)")
    }

    @Test(
        "in such a namespace, a file of a stranger is not trusted where the user could change it",
        .enabled(if: Users.mayMakeNamespaces, "the system lets no user make a namespace"))
    func strangerInNamespace() throws {
        let manifest = "\(users.folder)/list.json"
        try users.makeFile(manifest, "[]".utf8, 0o666, users.stranger)
        let line =
            "unshare -U --map-current-user ld-host -c migrations.packs.p.component=standard "
            + "-c migrations.packs.p.options.file=\(manifest) migrate plan"
        let ending = try users.shell(user, line)
        #expect(ending.status != 0 && ending.errors.contains("belongs to uid"), "\(ending.errors)")
    }

    @Test("a new home of a user is not for the superuser, who would lock that user out")
    func freshHome() throws {
        for address in ["userDefaults/a", "fileSystem/a"] {
            let ending = try users.run(
                Users.User(number: 0, group: 0, home: user.home), "set", address, "1")
            #expect(ending.status == 2 && ending.errors.contains("belongs to user \(user.number)"), "\(ending.errors)")
            let own = try users.run(user, "set", address, "1")
            #expect(own.status == 0, "\(own.errors)")
            users.removeAll(in: user.home)
        }
    }

    @Test(
        "the superuser makes nothing of the host's own in a user's home, which would lock that user out",
        arguments: [mode_t(0o700), 0o2770, 0o2775],
        [
            ["init"], ["config", "set", "log.level", "error"], ["store", "forget", "x"], ["ls"], ["doctor"],
            ["plugins", "list"], ["set", "userDefaults/a", "1"], ["sync", "status"],
        ])
    func hostsOwnFiles(mode: mode_t, words: [String]) throws {
        #expect(chmod(user.home, mode) == 0)
        let superuser = Users.User(number: 0, group: 0, home: user.home)
        for folder in [".config", ".cache", ".local"] {
            let ending = try users.run(superuser, words)
            #expect(ending.status != 0 || ["ls", "doctor", "plugins", "sync"].contains(words[0]), "\(ending.text)")
            #expect(!users.exists("\(user.home)/\(folder)"), "\(folder)")
        }
        for own in [["init"], ["set", "userDefaults/a", "1"], ["get", "userDefaults/a"]] {
            let ending = try users.run(user, own)
            #expect(ending.status == 0, "\(ending.errors)")
        }
        // Where the user has them, the superuser adds nothing to them.
        for words in [words, ["config", "set", "log.level", "warning"]] { _ = try users.run(superuser, words) }
        let mine = try users.shell(user, "find \"$HOME\" ! -user \(user.number); ld-host set userDefaults/a 2")
        #expect(mine.status == 0 && mine.text.isEmpty, "\(mine.text)\(mine.errors)")
    }

    @Test("doctor says who else can read a key file, and who can replace it")
    func keyFiles() throws {
        let (group, open) = ("\(users.folder)/of-group", "\(users.folder)/open")
        try users.makeFile(
            group, Data(repeating: 7, count: 32), 0o440, Users.User(number: 0, group: user.group, home: "/"))
        try users.makeFolder(open, 0o777, user)
        try users.makeFile("\(open)/key", Data(repeating: 8, count: 32), 0o600, user)
        for (path, text, status) in [
            (group, "can be read by the members of group \(user.group)", Int32(0)),
            ("\(open)/key", "can be replaced: its group and others can write the folder", 2),
        ] {
            let ending = try users.run(
                user, "-c", "stores.v.component=file", "-c", "stores.v.options.root=\(user.home)/v", "-c",
                "stores.v.sealing.source=keyFile", "-c", "stores.v.sealing.path=\(path)", "-c", "domains.custom=v",
                "doctor")
            #expect(ending.text.contains("the key file '\(path)' of store 'v' \(text)"), "\(ending.text)")
            #expect(ending.status == status, "\(ending.text)")
        }
    }

    @Test("a configuration may be a link of the user's or of root's, and not of a stranger")
    func linkedConfiguration() throws {
        let folder = "\(users.folder)/configured"
        try users.makeFolder(folder, 0o1777, user)
        try users.makeFile("\(folder)/file", #"{ log: { level: "error" } }"#.utf8, 0o644, user)
        for (name, owner) in [("own", user), ("planted", users.stranger)] {
            try users.makeLink("\(folder)/\(name)", to: "file", owner)
        }
        try users.makeLink("\(folder)/through", to: "planted", user)
        for (name, isFine) in [("own", true), ("planted", false), ("through", false)] {
            for words in [["config", "get", "log.level"], ["config", "set", "log.level", "error"]] {
                let ending = try users.run(user, ["--config", "\(folder)/\(name)"] + words)
                #expect((ending.status == 0) == isFine, "\(name): \(ending.errors)")
                #expect(isFine || ending.errors.contains("another user can turn elsewhere"), "\(ending.errors)")
            }
        }
    }

    @Test("a list of migrations may be a link of the user's or of root's, and not of a stranger")
    func links() throws {
        let folder = "\(users.folder)/given"
        try users.makeFolder(folder, 0o1777, user)
        try users.makeFile("\(folder)/list", "[]".utf8, 0o644, user)
        for (name, owner) in [("own", user), ("planted", users.stranger)] {
            try users.makeLink("\(folder)/\(name)", to: "list", owner)
        }
        #expect(symlink("list", "\(folder)/root") == 0)
        for (name, isFine) in [("own", true), ("root", true), ("planted", false)] {
            let ending = try users.run(
                user, "-c", "migrations.packs.p.component=standard", "-c",
                "migrations.packs.p.options.file=\(folder)/\(name)", "migrate", "plan")
            #expect((ending.status == 0) == isFine, "\(name): \(ending.errors)")
        }
    }

    @Test("a key or a password of root may be readable for the user's group behind a link, and for nobody else")
    func mountedSecrets() throws {
        let folder = "\(users.folder)/secrets"
        let root = Users.User(number: 0, group: user.group, home: user.home)
        try users.makeFolder(folder, 0o755, root)
        for (name, mode) in [("shared", mode_t(0o440)), ("open", 0o444), ("writable", 0o460)] {
            try users.makeFile("\(folder)/\(name)", "0123456789abcdef0123456789abcdef".utf8, mode, root)
            #expect(symlink(name, "\(folder)/\(name)-link") == 0)
        }
        let other = Users.User(number: 0, group: users.stranger.group, home: user.home)
        try users.makeFile("\(folder)/others", "0123456789abcdef0123456789abcdef".utf8, 0o440, other)
        for (name, isFine) in [
            ("shared", true), ("shared-link", true), ("open", false), ("writable", false), ("others", false),
        ] {
            let ending = try users.run(
                user, "-c", "stores.s.component=file", "-c", "stores.s.options.root=\(user.home)/\(name)", "-c",
                "stores.s.sealing.source=keyFile", "-c", "stores.s.sealing.path=\(folder)/\(name)", "-c",
                "domains.fileSystem=s", "set", "fileSystem/a", "1")
            #expect((ending.status == 0) == isFine, "\(name): \(ending.errors)")
            #expect(!ending.errors.contains("chmod"), "\(name): \(ending.errors)")
        }
    }

    @Test("no advice tells a user to change the mode of root's files or folders")
    func advice() throws {
        let folder = "\(users.folder)/given"
        let root = Users.User(number: 0, group: 0, home: user.home)
        try users.makeFolder(folder, 0o777, root)
        try users.makeFile("\(users.folder)/list", "[]".utf8, 0o666, root)
        try users.makeFile("\(users.folder)/password", "a password".utf8, 0o644, root)
        try users.makeFile("\(users.folder)/plugin.so", "".utf8, 0o666, root)
        try users.makeFile("\(users.folder)/closed.so", "".utf8, 0o600, root)
        let words = [
            "-c stores.s.component=file -c stores.s.options.root=\(folder)/values -c domains.fileSystem=s doctor":
                "\(folder) above",
            "-c migrations.packs.p.component=standard -c migrations.packs.p.options.file=\(users.folder)/list migrate plan":
                "can be written by others",
            "-c stores.s.component=postgresql -c stores.s.options.uri=postgresql://ann@127.0.0.1:1/ann "
                + "-c stores.s.options.passwordFile=\(users.folder)/password -c domains.fileSystem=s get fileSystem/a":
                "other users can read",
            "plugins inspect \(users.folder)/plugin.so": "is writable by its group and others",
            "plugins inspect \(users.folder)/closed.so": "Permission denied",
        ]
        for (line, finding) in words {
            let ending = try users.shell(user, "ld-host \(line) 2>&1")
            #expect(ending.text.contains(finding), "\(ending.text)")
            #expect(!ending.text.contains("chmod") && !ending.text.contains("chown"), "\(ending.text)")
        }
    }
}
