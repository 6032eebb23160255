// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "SecureStorageSample",
    dependencies: [.package(name: "LocalData", path: "../..")],
    targets: [
        .executableTarget(
            name: "SecureStorageSample",
            dependencies: [.product(name: "LocalData", package: "LocalData")])
    ]
)
