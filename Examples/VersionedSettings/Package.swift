// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "VersionedSettings",
    // A copy of this package elsewhere depends on the repository:
    // .package(url: "https://example.com/LocalData.git", from: "0.1.0")
    dependencies: [.package(name: "LocalData", path: "../..")],
    targets: [
        .executableTarget(
            name: "VersionedSettings",
            dependencies: [
                .product(name: "LocalDataAPI", package: "LocalData"),
                .product(name: "LocalDataHost", package: "LocalData"),
            ])
    ]
)
