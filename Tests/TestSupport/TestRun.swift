import FoundationEssentials

/// How the tests were started.
package enum TestRun {
    /// The environment of the test program.
    package static let environment = ProcessInfo.processInfo.environment

    /// The test program, without symbolic links. Started with a filter, it runs a test in a process of its own.
    package static let program: String =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""

    /// Whether the campaigns run whole, as `LOCALDATA_TORTURE=1` demands.
    package static let isTorture = environment["LOCALDATA_TORTURE"] == "1"

    /// What samples are drawn with: the same unless `LOCALDATA_SEED` says another, so that a run that fails does so for
    /// a change.
    package static let seed = environment["LOCALDATA_SEED"].flatMap(UInt64.init) ?? 1

    /// All elements if ``isTorture``; otherwise some that ``seed`` draws, in random order.
    package static func sample<Element>(_ count: Int, of all: [Element]) -> [Element] {
        var generator = SeededGenerator(seed: seed)
        return sample(count, of: all, using: &generator)
    }

    /// As ``sample(_:of:)``, drawn with the generator.
    package static func sample<Element>(
        _ count: Int, of all: [Element], using generator: inout SeededGenerator
    ) -> [Element] {
        isTorture ? all : Array(all.shuffled(using: &generator).prefix(count))
    }
}

/// A test could not be prepared, or a program that it started did not end as it must.
package struct TestFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
