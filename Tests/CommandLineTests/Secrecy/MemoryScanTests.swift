import FoundationEssentials
import Testing

@Suite("The search for secrets in memory")
struct MemoryScanTests {
    /// Reads a secret into a buffer, overwrites all but a part of it, and ends in some way.
    private static let keeper = """
        #include <fcntl.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        static char space[4096];
        int main(int count, char **words) {
            (void)count;
            int first = atoi(words[2]), end = atoi(words[3]), file = open(words[1], O_RDONLY);
            char *bytes = words[4][0] == 'h' ? malloc(2048) : words[4][0] == 's' ? __builtin_alloca(2048) : space;
            /* At no round address. */
            bytes += 5;
            long size = read(file, bytes, 1000);
            memset(bytes, 0, first);
            memset(bytes + end, 0, size - end);
            __asm__ volatile("" : : "r"(bytes) : "memory");
            if (words[5][0] == 'r') return 0;
            if (words[5][0] == '_') _exit(0);
            exit(0);
        }
        """

    @Test(
        "finds what a program keeps, wherever it is and however the program ends, and only that",
        arguments: ["heap", "stack", "data"], ["exit", "_exit", "return"])
    func keeper(_ place: String, _ end: String) throws {
        let home = try Home()
        try Self.keeper.write(toFile: "\(home.path)/keeper.c", atomically: false, encoding: .utf8)
        let building = try home.shell(
            "cc -O1 -o keeper keeper.c && head -c 1000 /dev/urandom > secret && head -c 1000 /dev/urandom > other")
        try #require(building.status == 0, "\(building.errors)")
        for (kept, found) in [(0..<1000, 0..<1000), (3..<18, 8..<16), (0..<0, 0..<0), (990..<1000, 992..<1000)] {
            let scan = try MemoryScan(home, for: ["secret", "other"])
            let ending = try scan.shell("$SCAN ./keeper secret \(kept.lowerBound) \(kept.upperBound) \(place) \(end)")
            #expect(ending.status == 0, "\(ending.errors)")
            let findings = try scan.findings()
            #expect(findings.map(\.bytes) == (found.isEmpty ? [] : [found]), "\(findings)")
            #expect(findings.allSatisfy { $0.secret == "secret" })
            let names = ["heap": "[heap]", "stack": "[stack]", "data": "/keeper"]
            #expect(findings.allSatisfy { $0.place.hasSuffix(names[place] ?? "") }, "\(findings)")
        }
    }

    @Test("finds a value that ld-host was given as an argument")
    func argument() throws {
        let home = try Home()
        let making = try home.shell("head -c 24 /dev/urandom | base64 -w 0 > value")
        try #require(making.status == 0)
        let scan = try MemoryScan(home, for: ["value"])
        #expect(try scan.shell(#"$SCAN ld-host set userDefaults/k -- "$(cat value)""#).status == 0)
        let places = Set(try scan.findings().map(\.place))
        #expect(places.isSuperset(of: ["[stack]", "[heap]"]), "\(places)")
    }

    @Test("a search that cannot run ends the program")
    func failure() throws {
        let home = try Home()
        let scan = try MemoryScan(home, for: ["missing"])
        #expect(try scan.shell("$SCAN ld-host version").status == 125)
    }
}
