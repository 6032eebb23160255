import FoundationEssentials
import TestSupport
import Testing

/// The copy of the keychain from sealed files to the Secret Service and back, killed before and after each message that
/// it sends over the bus. All points with `LOCALDATA_TORTURE=1`; otherwise a random part of them, the same for the same
/// `LOCALDATA_SEED`.
@Suite("Copies to and from the Secret Service, killed", .serialized)
struct KilledCopyTests {
    /// A number of points that take about 3 s.
    private static let sample = 3
    private static let library = Result {
        try PreloadedLibrary.build("messages", prefix: "messages", in: "CommandLineTests/Programs")
    }

    @Test(
        "no value is lost or changed, and the next run completes the copy",
        arguments: [("sealed-files", "secret-service"), ("secret-service", "sealed-files")])
    func campaign(from source: String, to destination: String) throws {
        let counted = try play(source, destination, "wc -c < $HOME/count")
        let count = try #require(Int(counted.text.split(separator: "\n").joined()), "\(counted.text)\(counted.errors)")
        try #require(count >= 20, "only \(count) messages are seen")
        let all = ["before", "after"].flatMap { mode in (1...count).map { "\(mode) \($0)" } }
        let points = TestRun.sample(Self.sample, of: all)
        let ending = try play(source, destination, points.map { "point \($0)" }.joined(separator: "\n"))
        #expect(ending.status == 0, "\(ending.errors)")
        let lines = ending.text.split(separator: "\n")
        #expect(lines.allSatisfy { $0 == "killed" }, "seed \(TestRun.seed): \(lines.filter { $0 != "killed" })")
        // Occasionally one call sends two messages.
        #expect(lines.count + 1 >= points.count * 9 / 10, "\(lines.count) of \(points.count) points were reached")
        print("faults: \(source) to \(destination): \(points.count) of \(all.count) points, seed \(TestRun.seed)")
    }

    /// Runs lines of sh in a separate session whose source store has values. `point` moves the values, is killed,
    /// checks where each value is, moves them again, and puts them back.
    private func play(_ source: String, _ destination: String, _ lines: String) throws -> Home.Ending {
        let home = try Home()
        let script = """
            cd "$HOME"
            printf '{"domains": {"keychain": "\(source)"}}' > from.json
            printf '{"domains": {"keychain": "\(destination)"}}' > to.json
            from() { LOCALDATA_CONFIG=$HOME/from.json ld-host "$@"; }
            to() { LOCALDATA_CONFIG=$HOME/to.json ld-host "$@"; }
            move() { ld-host store copy \(source) \(destination) --move > /dev/null; }
            # Whether a value is there; one that is there is the right one.
            has() {
                "$1" get "keychain:app/$2" > found 2> errors || { test $? = 1 || grep -q 'has it' errors || cat errors; return 1; }
                test "$(cat found)" = "value of $2" || echo "$point: $1 has another $2"
            }
            point() {
                point="$1 $2"
                status=0
                (export MESSAGES_MODE=$1 MESSAGES_AT=$2 LD_PRELOAD="$LIBRARY"; move) || status=$?
                case $status in 0) ;; 137) echo killed ;; *) echo "$point: ended with $status" ;; esac
                for name in a b c; do has from $name || has to $name || echo "$point: $name is lost"; done
                move || echo "$point: cannot be completed"
                for name in a b c; do
                    has to $name || echo "$point: $name has not arrived"
                    if has from $name; then echo "$point: $name is still there"; fi
                done
                ld-host store copy \(destination) \(source) --move > /dev/null || echo "$point: no way back"
            }
            for name in a b c; do printf 'value of %s' $name | from set keychain:app/$name --stdin; done
            (export MESSAGES_COUNT="$HOME/count" LD_PRELOAD="$LIBRARY"; move)
            ld-host store copy \(destination) \(source) --move > /dev/null
            \(lines)
            """
        let session = "\(Repository.root)/Tests/CommandLineTests/Programs/keyring_session.sh"
        return try home.run(
            "/bin/sh", [session, "/bin/sh", "-ec", script], adding: ["LIBRARY": try Self.library.get()])
    }
}
