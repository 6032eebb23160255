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
}
