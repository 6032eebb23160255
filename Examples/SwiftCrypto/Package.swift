// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "SwiftCrypto",
    products: [.library(name: "SwiftCrypto", type: .dynamic, targets: ["SwiftCrypto"])],
    // This folder is on your machine. Before you publish the package, depend on LocalData's repository:
    // .package(url: "https://example.com/LocalData.git", from: "0.1.0")
    dependencies: [.package(name: "LocalData", path: "../..")],
    targets: [
        .systemLibrary(name: "CLibSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .target(
            name: "SwiftCrypto",
            dependencies: ["CLibSodium", .product(name: "LocalDataPluginAPI", package: "LocalData")]
        ),
        .testTarget(
            name: "SwiftCryptoTests",
            dependencies: [
                "SwiftCrypto",
                .product(name: "LocalDataPluginAPI", package: "LocalData"),
                .product(name: "LocalDataTesting", package: "LocalData"),
            ]
        ),
    ]
)
