// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "SwiftSync",
    products: [.library(name: "SwiftSync", type: .dynamic, targets: ["SwiftSync"])],
    // This folder is on your machine. Before you publish the package, depend on LocalData's repository:
    // .package(url: "https://example.com/LocalData.git", from: "0.1.0")
    dependencies: [.package(name: "LocalData", path: "../..")],
    targets: [
        .target(name: "SwiftSync", dependencies: [.product(name: "LocalDataPluginAPI", package: "LocalData")]),
        .testTarget(
            name: "SwiftSyncTests",
            dependencies: [
                "SwiftSync",
                .product(name: "LocalDataPluginAPI", package: "LocalData"),
                .product(name: "LocalDataTesting", package: "LocalData"),
            ]
        ),
    ]
)
