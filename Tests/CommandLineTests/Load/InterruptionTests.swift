import FoundationEssentials
import Testing

/// SIGINT is ignored by what a shell starts in the background, so these are ended by SIGTERM, which is treated alike.
@Suite("A command that is interrupted") struct InterruptionTests {
    @Test("says how many values an import has stored, ends by the signal, and is completed by the next one")
    func importing() throws {
        let home = try Home()
        let ending = try home.shell(
            """
            python3 -c "import json; print(json.dumps({f'k{i}': 'A' * 100 for i in range(16000)}))" > many.json
            ld-host import userDefaults many.json 2> errors & process=$!
            while kill -0 $process && ! ld-host exists userDefaults/k4095; do :; done
            kill -TERM $process; wait $process; echo "status $?"; cat errors
            ld-host import userDefaults many.json; ld-host ls userDefaults | wc -l
            """)
        let lines = ending.text.split(separator: "\n")
        #expect(lines.first == "status 143", "\(ending.text)\(ending.errors)")
        #expect(lines.contains { $0.wholeMatch(of: /ld-host: \d+ of 16000 values are stored; .*/) != nil }, "\(lines)")
        #expect(lines.contains("ld-host: error: interrupted: not all is imported"), "\(lines)")
        #expect(lines.suffix(2) == ["imported 16000 values into userDefaults", "16000"], "\(lines)")
    }

    @Test("leaves no part of a backup behind, and the backup that was there")
    func backingUp() throws {
        let home = try Home()
        let ending = try home.shell(
            """
            python3 -c "import json; print(json.dumps({f'k{i}': 'A' * 100 for i in range(16000)}))" > many.json
            ld-host import userDefaults many.json > /dev/null; rm many.json
            printf 'a passphrase\n' > passphrase; mkdir backups; echo old > backups/home
            ld-host backup backups/home --overwrite --passphrase-fd 3 3< passphrase 2> errors & process=$!
            while kill -0 $process && ! ls -A backups | grep -q '^\\.home'; do :; done
            kill -TERM $process; wait $process; echo "status $?"; cat errors backups/home; ls -A backups
            """)
        #expect(
            ending.text
                == "status 143\nld-host: error: interrupted: the backup 'backups/home' was not written\nold\nhome\n",
            "\(ending.errors)")
    }

    @Test(
        "says how far it came and how to go on, ends by the signal, and is completed by the next one",
        arguments: [
            (
                "rm -r userDefaults/", #"removed [\d,]+ values?; the same command removes the rest"#,
                "rm -r userDefaults/; ld-host ls userDefaults"
            ),
            (
                "store copy sqlite file --domain userDefaults",
                #"(comparing|copying), [\d,]+ of [\d,]+ values? done\n.*--give-up"#,
                "store copy sqlite file --domain userDefaults > copied; "
                    + "ld-host -c domains.userDefaults=file ls userDefaults | grep -vc '^userDefaults/k'"
            ),
            (
                "reseal", #"[\d,]+ of [\d,]+ values? done\n.*run it again to go on"#,
                "reseal > resealed; ld-host reseal --plan | grep -v '^0 of 400 values'"
            ),
            ("restore saved --passphrase-fd 3 --domain userDefaults 3< passphrase", "nothing was restored", "ls"),
        ])
    func goingOn(command: String, said: String, next: String) throws {
        let home = try Home()
        let ending = try home.shell(
            """
            python3 -c "import json; print(json.dumps({f'k{i}': 'A' * 100 for i in range(6000)}))" > many.json
            ld-host import userDefaults many.json > /dev/null
            python3 -c "import json; print(json.dumps({f'k{i}': 'A' for i in range(400)}))" > many.json
            ld-host import encryptedFileSystem many.json > /dev/null; ld-host keys rotate > /dev/null
            printf 'a passphrase\n' > passphrase
            case '\(command)' in restore*)
                ld-host backup saved --domain userDefaults --passphrase-fd 3 3< passphrase > /dev/null
                ld-host rm -r userDefaults/ encryptedFileSystem/ 2> /dev/null
            esac
            ld-host \(command) > /dev/null 2> errors & process=$!
            # Until the program catches the signal.
            while kill -0 $process; do
                case $(awk '/^SigCgt/ { print substr($2, 13, 1) }' /proc/$process/status) in [4567c-f]) break; esac
            done
            kill -TERM $process; wait $process; echo "status $?"; cat errors; ld-host \(next); ls -A | grep '^\\.[^cl]'
            """)
        let (first, rest) = (ending.text.split(separator: "\n", maxSplits: 1).first, ending.text)
        #expect(first == "status 143", "\(ending.text)\(ending.errors)")
        #expect(try rest.contains(Regex(said)), "\(ending.text)")
        let after = rest.split(separator: "\n").filter { !$0.hasPrefix("ld-host: ") && !$0.hasPrefix("status") }
        #expect(after.isEmpty || after == ["0"], "\(after.prefix(5))")
    }
}
