// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "SecureStorageSample",
    // A copy of this package elsewhere depends on the repository:
    // .package(url: "https://example.com/LocalData.git", from: "0.1.0")
    dependencies: [.package(name: "LocalData", path: "../..")],
    targets: [
        .executableTarget(
            name: "SecureStorageSample",
            dependencies: [.product(name: "LocalData", package: "LocalData")])
    ]
)
