import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite("Values that rot") struct DamagedValuesTests {
    @Test("each is noticed, named and replaceable, and no other is affected", arguments: ["file", "sqlite"])
    func damaged(_ store: String) throws {
        let home = try Home()
        try home.done("config", "set", "domains.userDefaults", store)
        let rotten = try RottenValues(home, count: 50)
        if store == "sqlite" { try rotten.checkpoint() }
        var numbers = SeededGenerator(seed: 2)
        let (damaged, sound) = (rotten.values.prefix(25), rotten.values.dropFirst(25))
        for (index, value) in damaged.enumerated() {
            let damage = RottenValues.Damage.allCases[index % 3]
            if store == "file" {
                try rotten.damageFile(value.name, damage, &numbers)
            } else {
                try rotten.damageRow(value.text, damage, &numbers)
            }
        }
        for value in damaged {
            let ending = try home.run("get", "userDefaults/\(value.name)")
            #expect(ending.status == 2)
            #expect(value.text.count > 262_144 || ending.text == "")
            let what = "ld-host: error: 'userDefaults/\(value.name)' in store '\(store)' is corrupt: "
            #expect(ending.errors.hasPrefix(what), "\(ending.errors)")
            #expect(ending.errors.contains("ld-host: hint: restore it from a backup, or set or remove "))
            #expect(ending.errors.contains("\(home.path)/data/localdata/"))
        }
        for value in sound { #expect(try home.done("get", "userDefaults/\(value.name)").text == value.text) }
        #expect(try home.done("ls", "userDefaults").text.split(separator: "\n").count == 50)
        let export = try home.run("export", "userDefaults/")
        #expect(export.status == 2)
        #expect(export.text.split(separator: "\n").filter { $0.contains("\"value-") }.count == 25)
        let scrub = try home.run("doctor", "--scrub")
        #expect(scrub.status == 2)
        for value in damaged {
            #expect(scrub.text.contains("!!  'userDefaults/\(value.name)' of store '\(store)' cannot be read: "))
        }
        #expect(
            scrub.text.contains("!!  store '\(store)': 50 values were read, 25 of them are damaged\n"), "\(scrub.text)")
        // Set the first half again; remove the second.
        for (index, value) in damaged.enumerated() {
            if index < 12 {
                try home.done("set", "userDefaults/\(value.name)", "new")
            } else {
                try home.done("rm", "userDefaults/\(value.name)")
            }
        }
        let end = try home.run("doctor", "--scrub")
        #expect(end.status == 0)
        #expect(end.text.contains("ok  store '\(store)': 37 values were read, 0 of them are damaged\n"), "\(end.text)")
    }

    @Test(
        "a copy of a store, and a migration, transfer sound values and leave corrupt ones", arguments: [true, false])
    func copied(_ fromFiles: Bool) throws {
        let home = try Home()
        let (from, to) = fromFiles ? ("file", "sqlite") : ("sqlite", "file")
        try home.done("config", "set", "domains.userDefaults", from)
        let rotten = try RottenValues(home, count: 8)
        if !fromFiles { try rotten.checkpoint() }
        var numbers = SeededGenerator(seed: 2)
        // One value is in a row, the other in pieces.
        for value in [rotten.values[1], rotten.values[5]] {
            if fromFiles {
                try rotten.damageFile(value.name, .flipped, &numbers)
            } else {
                try rotten.damageRow(value.text, .flipped, &numbers)
            }
        }
        let ending = try home.run("store", "copy", from, to, "--move")
        #expect(ending.status == 2)
        for index in [1, 5] { #expect((ending.text + ending.errors).contains("userDefaults/value-\(index) stays")) }
        #expect(try home.done("ls", "userDefaults").text == "userDefaults/value-1\nuserDefaults/value-5\n")
        try home.done("config", "set", "domains.userDefaults", to)
        for (index, value) in rotten.values.enumerated() {
            let found = try home.run("get", "userDefaults/\(value.name)")
            #expect(index == 1 || index == 5 ? found.status == 2 : found.text == value.text, "\(index)")
        }
    }

    @Test("a file that a person edited is read as it is now, and reported as edited")
    func edited() throws {
        let home = try Home()
        try home.keepUserDefaultsInFiles()
        for name in ["in-place", "replaced", "emptied", "untouched"] {
            try home.done("set", "userDefaults/\(name)", "dark")
        }
        let ending = try home.shell(
            """
            cd data/localdata/files/userDefaults || exit 1
            printf light > in-place
            printf light > new && mv new replaced
            : > emptied
            """)
        try #require(ending.status == 0, "\(ending.errors)")
        #expect(try home.done("get", "userDefaults/in-place").text == "light")
        #expect(try home.done("get", "userDefaults/replaced").text == "light")
        #expect(try home.done("get", "userDefaults/untouched").text == "dark")
        // A program that dies before it writes leaves an empty file.
        #expect(try home.run("get", "userDefaults/emptied").errors.contains("is corrupt"))
        let scrub = try home.run("doctor", "--scrub")
        #expect(scrub.status == 2)
        #expect(scrub.text.contains("!!  'userDefaults/in-place' of store 'file' was edited outside LocalData\n"))
        #expect(scrub.text.contains("!!  'userDefaults/emptied' of store 'file' cannot be read: "))
        #expect(
            scrub.text.contains(
                "!!  store 'file': 4 values were read, 1 of them are damaged, 1 were edited outside LocalData, "
                    + "1 have no checksum, so damage to them cannot be noticed\n"), "\(scrub.text)")
        try home.done("set", "userDefaults/in-place", "light")
        try home.done("rm", "userDefaults/emptied")
        #expect(try home.run("doctor", "--scrub").status == 0)
    }
}
