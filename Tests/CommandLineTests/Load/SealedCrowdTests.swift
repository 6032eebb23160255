import FoundationEssentials
import TestSupport
import Testing

@Suite("Many processes on sealed values", .serialized)
struct SealedCrowdTests {
    private static let rounds = TestRun.isTorture ? 40 : 3

    @Test("20 processes that use a fresh store at once end with one key of each kind and 20 readable values")
    func freshStore() throws {
        for round in 1...Self.rounds {
            let home = try Home()
            let ending = try home.shell(
                """
                for i in $(seq 10); do
                    printf 'secret %s' $i | ld-host set keychain:crowd/k$i --stdin & pids="$pids $!"
                    printf 'text %s' $i | ld-host set encryptedFileSystem/k$i --stdin & pids="$pids $!"
                done
                for pid in $pids; do wait $pid || echo failed; done
                \(Self.readBack)
                ld-host keys list | cut -d' ' -f3-4
                ld-host keys list --store sealed-files | cut -d' ' -f3-4
                find config/localdata/keys -type f
                """)
            #expect(ending.errors == "", "round \(round)")
            let keys = "active \nactive \nconfig/localdata/keys/sealed-files.key\n"
            #expect(ending.text == Self.allValues + keys, "round \(round)")
            try nothingIsLeft(in: home)
        }
    }

    @Test("half of them read meanwhile: they find the value, or find it absent")
    func readers() throws {
        for round in 1...Self.rounds {
            let home = try Home()
            let ending = try home.shell(
                """
                for i in $(seq 10); do
                    printf 'secret %s' $i | ld-host set keychain:crowd/k$i --stdin & pids="$pids $!"
                    printf 'text %s' $i | ld-host set encryptedFileSystem/k$i --stdin & pids="$pids $!"
                    (ld-host get keychain:crowd/k$i > keychain.$i 2> errors.$i || test $? = 1 || echo failed
                    ld-host get encryptedFileSystem/k$i > files.$i 2>> errors.$i || test $? = 1 || echo failed
                    test ! -s keychain.$i || test "$(cat keychain.$i)" = "secret $i" || echo wrong $i
                    test ! -s files.$i || test "$(cat files.$i)" = "text $i" || echo wrong $i) & pids="$pids $!"
                done
                for pid in $pids; do wait $pid || echo failed; done
                grep -v -e 'is not stored' -e 'run: ld-host ls' errors.*
                \(Self.readBack)
                """)
            #expect(ending.errors == "", "round \(round)")
            #expect(ending.text == Self.allValues, "round \(round)")
        }
    }

    @Test("some of them create keys and rotate: each key is kept, one is active, and every value is readable")
    func rotating() throws {
        for round in 1...Self.rounds {
            let home = try Home()
            let ending = try home.shell(
                """
                for i in $(seq 10); do
                    printf 'secret %s' $i | ld-host set keychain:crowd/k$i --stdin & pids="$pids $!"
                    printf 'text %s' $i | ld-host set encryptedFileSystem/k$i --stdin & pids="$pids $!"
                    case $i in
                        2|5) ld-host keys rotate >> made & pids="$pids $!";;
                        3|8) ld-host keys create >> made & pids="$pids $!";;
                        4|7) ld-host keys rotate --store sealed-files >> store-made & pids="$pids $!";;
                    esac
                done
                for pid in $pids; do wait $pid || echo failed; done
                \(Self.readBack)
                ld-host keys list | cut -d' ' -f1 > keys
                ld-host keys list --store sealed-files | cut -d' ' -f1 > store-keys
                grep -c -v -x -F -f keys made; grep -c -v -x -F -f store-keys store-made
                for store in '' '--store sealed-files'; do
                    ld-host keys list $store | grep -c ' active '
                    ld-host reseal $store > resealed || echo failed
                    for key in $(ld-host keys list $store | grep -v ' active ' | cut -d' ' -f1); do
                        ld-host keys retire $store $key || echo failed
                    done
                    ld-host keys list $store | wc -l
                done
                \(Self.readBack)
                """)
            #expect(ending.errors == "", "round \(round)")
            #expect(ending.text == "\(Self.allValues)0\n0\n1\n1\n1\n1\n\(Self.allValues)", "round \(round)")
            try nothingIsLeft(in: home)
        }
    }

    @Test("reseals that are killed at any time while others set, get and rotate: no value is lost")
    func killedReseals() throws {
        let home = try Home()
        let rounds = TestRun.isTorture ? 300 : 12
        var generator = SeededGenerator(seed: UInt64(rounds))
        // In milliseconds: some are killed before they have done anything, some not at all.
        let delays = (0..<rounds).map { _ in "0.\(1000 + Int.random(in: 20...600, using: &generator))" }
            .map { $0.replacing("0.1", with: "0.") }
        let ending = try home.shell(
            """
            for i in 1 2 3 4; do
                head -c $((i * 70000)) /dev/urandom > stays.$i
                ld-host set encryptedFileSystem/stays$i --file stays.$i
                ld-host set keychain:crowd/stays$i --file stays.$i
            done
            for i in 1 2; do
                (n=0; while ! test -e done; do n=$((n + 1)); printf 'value %s of %s' $n $i > in.$i
                    ld-host set encryptedFileSystem/written$i --file in.$i || echo failed writer
                    ld-host set keychain:crowd/written$i --file in.$i || echo failed writer
                    test "$(ld-host get encryptedFileSystem/written$i)" = "$(cat in.$i)" || echo lost $n of $i
                done; echo $n > count.$i) & others="$others $!"
            done
            (while ! test -e done; do for i in 1 2 3 4; do
                ld-host get encryptedFileSystem/stays$i | cmp - stays.$i || echo failed reader
                ld-host get keychain:crowd/stays$i | cmp - stays.$i || echo failed reader
            done; done) & others="$others $!"
            for delay in \(delays.joined(separator: " ")); do
                ld-host keys rotate > out || echo failed rotation
                ld-host keys rotate --store sealed-files > out || echo failed rotation
                timeout -s KILL $delay ld-host reseal > out 2> killed && echo >> ended
                timeout -s KILL $delay ld-host reseal --store sealed-files > out 2> killed && echo >> ended
                echo >> tried
            done
            touch done
            wait $others
            for store in '' '--store sealed-files'; do
                ld-host reseal $store > out || echo failed reseal
                for key in $(ld-host keys list $store | grep -v ' active ' | cut -d' ' -f1); do
                    ld-host keys retire $store $key || echo failed to retire
                done
                ld-host keys list $store | wc -l
            done
            for domain in encryptedFileSystem keychain:crowd; do
                for i in 1 2 3 4; do ld-host get $domain/stays$i | cmp - stays.$i; done
                for i in 1 2; do ld-host get $domain/written$i | cmp - in.$i; done
            done
            """)
        #expect(ending.errors == "")
        #expect(ending.text == "1\n1\n")
        try nothingIsLeft(in: home)
        let killed = try home.shell("echo $(($(wc -l < tried) * 2 - $(cat ended 2> no | wc -l))) $(cat count.1)")
        print("\(2 * rounds) reseals; killed, and rounds of a writer meanwhile: \(killed.text)", terminator: "")
        let numbers = killed.text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        #expect(numbers.count == 2 && numbers[0] > 0 && numbers[1] > 1, "nothing was killed, or nobody wrote meanwhile")
    }

    private static let readBack = """
        for i in $(seq 10); do ld-host get keychain:crowd/k$i; echo; ld-host get encryptedFileSystem/k$i; echo; done
        """

    private static let allValues = (1...10).map { "secret \($0)\ntext \($0)\n" }.joined()

    private func nothingIsLeft(in home: Home) throws {
        let left = try home.shell("find data state config -path '*/.tmp/*' -o -path '*/journal/*' -type f")
        #expect(left.text == "")
    }
}
