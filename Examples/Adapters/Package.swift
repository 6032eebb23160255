// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "Adapters",
    dependencies: [.package(name: "LocalData", path: "../..")],
    targets: [
        .executableTarget(
            name: "Adapters",
            dependencies: [
                .product(name: "LocalDataAPI", package: "LocalData"),
                .product(name: "LocalDataHost", package: "LocalData"),
            ])
    ]
)
