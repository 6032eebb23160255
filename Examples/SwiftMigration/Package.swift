// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "SwiftMigration",
    products: [.library(name: "SwiftMigration", type: .dynamic, targets: ["SwiftMigration"])],
    // This folder is on your machine. Before you publish the package, depend on LocalData's repository:
    // .package(url: "https://example.com/LocalData.git", from: "0.1.0")
    dependencies: [.package(name: "LocalData", path: "../..")],
    targets: [
        .target(name: "SwiftMigration", dependencies: [.product(name: "LocalDataAPI", package: "LocalData")]),
        .testTarget(
            name: "SwiftMigrationTests",
            dependencies: [
                "SwiftMigration",
                .product(name: "LocalDataAPI", package: "LocalData"),
                .product(name: "LocalDataTesting", package: "LocalData"),
                .product(name: "LocalDataHost", package: "LocalData"),
            ]
        ),
    ]
)
