// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "HelloBackend",
    products: [.library(name: "HelloBackend", type: .dynamic, targets: ["HelloBackend"])],
    // A copy of this package elsewhere depends on the repository:
    // .package(url: "https://example.com/LocalData.git", from: "0.1.0")
    dependencies: [.package(name: "LocalData", path: "../..")],
    targets: [
        .target(name: "HelloBackend", dependencies: [.product(name: "LocalDataPluginAPI", package: "LocalData")])
    ]
)
