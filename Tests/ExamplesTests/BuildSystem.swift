import LocalDataHost
import TestSupport

/// What compiles and links a package: 6.3's default, and that of later toolchains, which puts products elsewhere.
enum BuildSystem: String, CaseIterable {
    case native, swiftbuild

    /// The environment of those who build it, who do not make this package's warnings errors: `swiftbuild` cannot do
    /// that in a dependency, and a build that does shares nothing with one that does not.
    static let environment = TestRun.environment.filter { $0.key != "LOCALDATA_STRICT" }

    /// The option that selects it.
    var options: [String] { ["--build-system", rawValue] }

    /// Runs `swift` with arguments. SwiftPM 6.3.1 sometimes ends by a signal, in a run loop of Foundation, when
    /// `swiftbuild` starts on a busy machine; then it is run once more.
    func run(_ arguments: [String]) throws -> ChildProcess.Completion {
        let swift = ChildProcess("/usr/bin/env", arguments: ["swift"] + arguments, environment: Self.environment)
        let end = try swift.run(deadline: .seconds(900))
        guard self == .swiftbuild, case .signalled = end.outcome else { return end }
        return try swift.run(deadline: .seconds(900))
    }

    /// Lets one test at a time build, in a folder that all of them share; the two do not share it with each other.
    func build<Result: Sendable>(_ body: (_ scratch: String) throws -> Result) throws -> Result {
        try NestedPackages.build { (scratch) throws in
            guard self != .native else { return try body(scratch) }
            try TemporaryFolder.makeFolder("\(scratch)/\(self)")
            return try body("\(scratch)/\(self)")
        }
    }
}
