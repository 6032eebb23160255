// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "SettingsApp",
    dependencies: [.package(name: "LocalData", path: "../..")],
    targets: [
        .executableTarget(name: "SettingsApp", dependencies: [.product(name: "LocalData", package: "LocalData")])
    ]
)
