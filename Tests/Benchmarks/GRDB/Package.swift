// swift-tools-version: 6.3
import PackageDescription

// This package is separate, so that nothing else here depends on GRDB, and the rest runs where GRDB is unavailable.
let package = Package(
    name: "GRDBBenchmark",
    dependencies: [.package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0")],
    targets: [
        .executableTarget(
            name: "grdb-bench",
            dependencies: [.product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .treatAllWarnings(as: .error),
            ])
    ]
)
