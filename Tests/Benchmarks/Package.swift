// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "LocalDataBenchmarks",
    dependencies: [.package(name: "LocalData", path: "../..")],
    targets: [
        .executableTarget(
            name: "localdata-bench",
            dependencies: [
                .product(name: "LocalDataAPI", package: "LocalData"),
                .product(name: "LocalDataHost", package: "LocalData"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .treatAllWarnings(as: .error),
            ])
    ]
)
