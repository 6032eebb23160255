// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "CustomMigrationPack",
    products: [.library(name: "CustomMigrationPack", type: .dynamic, targets: ["CustomMigrationPack"])],
    dependencies: [.package(name: "LocalData", path: "../..")],
    targets: [
        .target(
            name: "CustomMigrationPack",
            dependencies: [.product(name: "LocalDataAPI", package: "LocalData")],
            swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")])
    ]
)
