// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "HelloBackend",
    products: [.library(name: "HelloBackend", type: .dynamic, targets: ["HelloBackend"])],
    dependencies: [.package(name: "LocalData", path: "../..")],
    targets: [
        .target(name: "HelloBackend", dependencies: [.product(name: "LocalDataAPI", package: "LocalData")])
    ]
)
