// swift-tools-version: 6.3
import PackageDescription

// This package is separate, so that nothing else here depends on swift-crypto, and the rest runs without it.
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
