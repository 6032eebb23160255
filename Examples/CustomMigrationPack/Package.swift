// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "CustomMigrationPack",
    products: [.library(name: "CustomMigrationPack", type: .dynamic, targets: ["CustomMigrationPack"])],
    // A copy of this package elsewhere depends on the repository:
    // .package(url: "https://example.com/LocalData.git", from: "0.1.0")
    dependencies: [.package(name: "LocalData", path: "../..")],
    targets: [
        .target(
            name: "CustomMigrationPack",
            dependencies: [.product(name: "LocalDataAPI", package: "LocalData")],
            swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")])
    ]
)
