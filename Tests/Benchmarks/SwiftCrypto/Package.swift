// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that nothing else here depends on swift-crypto, and the rest runs where it cannot be had.
let package = Package(
    name: "SwiftCryptoBenchmark",
    dependencies: [.package(url: "https://github.com/apple/swift-crypto", from: "4.0.0")],
    targets: [
        .executableTarget(
            name: "swift-crypto-bench",
            dependencies: [.product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .treatAllWarnings(as: .error),
            ])
    ]
)
