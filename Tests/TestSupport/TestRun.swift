import FoundationEssentials

/// How the tests were started.
package enum TestRun {
    /// The environment of the test program.
    package static let environment = ProcessInfo.processInfo.environment

    /// The test program, without symbolic links. Started with a filter, it runs a test in a separate process.
    package static let program: String =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""

    /// Whether the campaigns run completely, as `LOCALDATA_TORTURE=1` requests.
    package static let isTorture = environment["LOCALDATA_TORTURE"] == "1"

    /// The seed for samples: the same unless `LOCALDATA_SEED` sets another, so that a new failure comes from a change.
    package static let seed = environment["LOCALDATA_SEED"].flatMap(UInt64.init) ?? 1

    /// Whether an environment variable, a list of names with commas between them, has a name; true if it is not set.
    package static func isWanted(_ name: String, in variable: String) -> Bool {
        guard let names = environment[variable] else { return true }
        return names.split(separator: ",").contains { $0 == name }
    }

    /// All elements if ``isTorture``; otherwise some that ``seed`` draws, in random order.
    package static func sample<Element>(_ count: Int, of all: [Element]) -> [Element] {
        var generator = SeededGenerator(seed: seed)
        return sample(count, of: all, using: &generator)
    }

    /// Like ``sample(_:of:)``, with a generator.
    package static func sample<Element>(
        _ count: Int, of all: [Element], using generator: inout SeededGenerator
    ) -> [Element] {
        isTorture ? all : Array(all.shuffled(using: &generator).prefix(count))
    }
}

/// A test could not be prepared, or a program that it started did not end as expected.
package struct TestFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
