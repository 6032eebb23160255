// swift-tools-version: 6.3
import PackageDescription

/// Whether warnings are errors; the Makefile sets this. Not for a package that depends on this one: the build system
/// lets dependencies give no warnings, and takes the two for a contradiction.
let isStrict = Context.environment["LOCALDATA_STRICT"] == "1"

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

/// Each plugin is one folder, one target and one dynamic library of the same name. Those that a program can also link
/// have their entry function in a target of its own.
let backends = [
    "MemoryStore", "FileStore", "SQLiteStore", "PostgreSQLStore", "OpenSSLCrypto", "SodiumCrypto", "SecretService",
    "FolderSync", "NATSSync",
]

/// The migration packs, which are plugins of the same shape.
let migrators = ["StandardMigrations"]

/// Whether the program that libFuzzer drives is a target too. Its main function is the fuzzer's, so it can be linked
/// only with `--sanitize fuzzer`; `Tests/Fuzz/run` sets this.
let fuzzes = Context.environment["LOCALDATA_FUZZ"] == "1"

/// The stores that are part of `ld-host` and of every program with the product `LocalData`.
let linkedStores: Set = ["MemoryStore", "FileStore"]

/// The plugins that programs or tests link: their entry functions are in targets of their own.
let linkable = linkedStores.union(["FolderSync", "NATSSync"])

/// The plugins that the built-in defaults use, and one that needs no library: what `swift package localdata` builds
/// without `--plugins`.
let defaultPlugins = ["SQLiteStore", "OpenSSLCrypto", "StandardMigrations"]

/// The target with a plugin's entry function.
func entry(of plugin: String) -> String { linkable.contains(plugin) ? "\(plugin)Plugin" : plugin }

/// The plugins that use the checksums and files of `DurableFiles`.
let filekeepers: Set = ["FileStore", "SQLiteStore", "PostgreSQLStore", "FolderSync"]

/// The plugins that are clients of a server.
let clients: Set = ["PostgreSQLStore", "NATSSync"]

/// The system library that a plugin wraps, if it does: a folder `C...` in the plugin's own, with its module map.
let libraries = [
    "OpenSSLCrypto": "COpenSSL", "SodiumCrypto": "CSodium", "SecretService": "CSecret", "SQLiteStore": "CSQLite",
    "PostgreSQLStore": "CPostgreSQL", "NATSSync": "CNATS",
]

/// The system libraries, each in the folder of the plugin that wraps it.
let systemLibraries: [Target] = [
    .systemLibrary(
        name: "COpenSSL", path: "Sources/Backends/OpenSSLCrypto/COpenSSL", pkgConfig: "libcrypto",
        providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
        name: "CSodium", path: "Sources/Backends/SodiumCrypto/CSodium", pkgConfig: "libsodium",
        providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(
        name: "CSecret", path: "Sources/Backends/SecretService/CSecret", pkgConfig: "libsecret-1",
        providers: [.apt(["libsecret-1-dev"])]),
    .systemLibrary(
        name: "CSQLite", path: "Sources/Backends/SQLiteStore/CSQLite", pkgConfig: "sqlite3",
        providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
        name: "CPostgreSQL", path: "Sources/Backends/PostgreSQLStore/CPostgreSQL", pkgConfig: "libpq",
        providers: [.apt(["libpq-dev"])]),
    .systemLibrary(
        name: "CNATS", path: "Sources/Backends/NATSSync/CNATS", pkgConfig: "libnats",
        providers: [.apt(["libnats-dev"])]),
]

let backendTargets: [Target] = backends.map { plugin in
    var dependencies: [Target.Dependency] = ["LocalDataPluginAPI"]
    let library = libraries[plugin]
    if let library { dependencies.append(.byName(name: library)) }
    if filekeepers.contains(plugin) { dependencies += ["DurableFiles", "CLinux", "ByteCoding"] }
    if clients.contains(plugin) { dependencies.append("ServerAccess") }
    return .target(
        name: plugin,
        dependencies: dependencies,
        path: "Sources/Backends/\(plugin)",
        exclude: (linkable.contains(plugin) ? ["Plugin"] : []) + (library.map { [$0] } ?? []),
        packageAccess: false,
        swiftSettings: settings)
}

let entryTargets: [Target] = linkable.sorted().map { plugin in
    .target(
        name: entry(of: plugin),
        dependencies: ["LocalDataPluginAPI", .byName(name: plugin)],
        path: "Sources/Backends/\(plugin)/Plugin",
        packageAccess: false,
        swiftSettings: settings)
}

/// The floors of the host, bottom up, each with those that it stands on: a folder, and a target that cannot use what
/// lies above it. A program imports `LocalDataHost`, the topmost, which passes on what the others declare.
let floors: [(folder: String, below: [String])] = [
    ("Ground", []),
    ("Plugins", ["Ground"]),
    ("Sync", ["Ground"]),
    ("Sealing", ["Ground", "Plugins"]),
    ("Stores", ["Ground", "Plugins", "Sealing"]),
    ("Moving", ["Ground", "Plugins", "Sealing", "Stores"]),
    ("Migration", ["Ground", "Plugins", "Sync", "Sealing", "Stores", "Moving"]),
    ("Transfer", ["Ground", "Plugins", "Sync", "Sealing", "Stores", "Moving", "Migration"]),
    ("Router", ["Ground", "Plugins", "Sync", "Sealing", "Stores", "Moving", "Migration", "Transfer"]),
]

/// The target of a floor.
func module(of floor: String) -> String { floor == "Router" ? "LocalDataHost" : "Host\(floor)" }

/// The targets of the floors below the topmost, for tests that look into them.
let lowerFloors: [Target.Dependency] = floors.dropLast().map { .byName(name: module(of: $0.folder)) }

let hostTargets: [Target] = floors.map { floor in
    .target(
        name: module(of: floor.folder),
        dependencies: floor.below.map { .byName(name: module(of: $0)) } + [
            "LocalDataAPI", "CLocalData", "CLinux", "DurableFiles", "ByteCoding", "JSON",
        ],
        path: "Sources/ld-host/Host/\(floor.folder)",
        swiftSettings: settings)
}

let exerciseDependencies: [Target.Dependency] =
    [
        "ReaderExercise", "HostClients", "LocalDataHost", "LocalDataAPI", "DurableFiles", "ByteCoding",
        "MigrationManifest", "JSON", "FolderSync", "NATSSync",
    ] + lowerFloors

/// What fuzzing gives its inputs to: sources of a test target, or of what the fuzzer's program is made of. Not a test
/// target on which another one depends, as the build system of Swift 6.4 has no such thing.
let fuzzTargets: [Target] =
    fuzzes
    ? [
        .target(
            name: "FuzzExercise",
            dependencies: exerciseDependencies + ["TestSupport"],
            path: "Tests/Fuzz/Exercise",
            swiftSettings: settings),
        .executableTarget(
            name: "localdata-fuzz",
            dependencies: ["FuzzExercise"],
            path: "Tests/Fuzz/Driver",
            swiftSettings: settings),
    ]
    : [
        .testTarget(
            name: "FuzzTests",
            dependencies: exerciseDependencies,
            path: "Tests/Fuzz",
            exclude: ["Corpus", "Driver", "Reader", "run"],
            sources: ["Exercise", "Tests"],
            swiftSettings: settings)
    ]

/// What embeds texts in `ld-host`.
let embeddingTargets: [Target] = [
    .executableTarget(name: "embed-text", path: "Sources/ld-host/Embedding/Tool", swiftSettings: settings),
    .plugin(
        name: "EmbedTexts", capability: .buildTool(), dependencies: ["embed-text"],
        path: "Sources/ld-host/Embedding/Plugin"),
]

let package = Package(
    name: "LocalData",
    // For the library LocalDataAPI alone; see the guide Architecture. Nothing is built or tested there.
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "LocalData", targets: ["LocalData"]),
        .library(name: "LocalDataAPI", targets: ["LocalDataAPI"]),
        .library(name: "LocalDataPluginAPI", targets: ["LocalDataPluginAPI"]),
        // What stores that keep files, and plugins that are clients of a server, are made with, the house's own too.
        .library(name: "DurableFiles", targets: ["DurableFiles", "ByteCoding", "CLinux"]),
        .library(name: "ServerAccess", targets: ["ServerAccess"]),
        .library(name: "LocalDataHost", targets: ["LocalDataHost"]),
        .library(name: "LocalDataTesting", targets: ["LocalDataTesting"]),
        .executable(name: "ld-host", targets: ["ld-host"]),
        .plugin(name: "LocalDataCommand", targets: ["LocalDataCommand"]),
        // For that command alone: a target that is in no product cannot be built from another package.
        .library(name: "DefaultPlugins", targets: ["DefaultPlugins"]),
    ] + (backends + migrators).map { .library(name: $0, type: .dynamic, targets: [entry(of: $0)]) },
    targets: [
        .target(name: "CLocalData", path: "Sources/LocalDataAPI/CLocalData"),
        .target(name: "CLinux", path: "Sources/LocalDataAPI/CLinux"),
        .target(name: "CChecksum", path: "Sources/LocalDataAPI/CChecksum"),
        .target(
            name: "DurableFiles",
            dependencies: ["LocalDataPluginAPI", "CLinux", "CChecksum", "ByteCoding"],
            path: "Sources/LocalDataAPI/DurableFiles",
            swiftSettings: settings),
        .target(
            name: "ServerAccess",
            dependencies: ["LocalDataPluginAPI", "CLinux", "DurableFiles"],
            path: "Sources/LocalDataAPI/ServerAccess",
            swiftSettings: settings),
        .target(name: "ByteCoding", path: "Sources/LocalDataAPI/ByteCoding", swiftSettings: settings),
        .target(name: "JSON", path: "Sources/LocalDataAPI/JSON", swiftSettings: settings),
        .target(
            name: "LocalDataPluginAPI",
            dependencies: ["CLocalData"],
            path: "Sources/LocalDataAPI/Plugin",
            swiftSettings: settings),
        .target(
            name: "LocalDataAPI",
            dependencies: ["LocalDataPluginAPI", "CLocalData", "ByteCoding"],
            path: "Sources/LocalDataAPI",
            exclude: [
                "CLocalData", "CLinux", "CChecksum", "Plugin", "DurableFiles", "ByteCoding", "JSON", "ServerAccess",
            ],
            swiftSettings: settings),
        .target(
            name: "LinkedStores",
            dependencies: ["FileStore", "MemoryStore", "LocalDataAPI"],
            path: "Sources/ld-host/LinkedStores",
            swiftSettings: settings),
        .target(
            name: "LocalData",
            dependencies: ["LinkedStores", "LocalDataHost", "LocalDataAPI"],
            path: "Sources/ld-host/Umbrella",
            swiftSettings: settings),
        .target(
            name: "ConformanceKit",
            dependencies: ["HostPlugins", "HostGround", "LocalDataAPI", "CLocalData"],
            path: "Sources/ld-host/Testing/Conformance",
            swiftSettings: settings),
        .target(
            name: "LocalDataTesting",
            dependencies: ["ConformanceKit", "LocalDataHost", "LocalDataAPI"],
            path: "Sources/ld-host/Testing",
            exclude: ["Conformance"],
            swiftSettings: settings),
        .target(
            name: "HostClients",
            dependencies: ["LocalDataHost", "LocalDataAPI", "JSON"],
            path: "Sources/ld-host/Clients",
            swiftSettings: settings),
        .executableTarget(
            name: "ld-host",
            dependencies: [
                "ConformanceKit", "HostClients", "LinkedStores", "LocalDataHost", "LocalDataAPI", "MigrationManifest",
                "DurableFiles", "JSON",
            ],
            path: "Sources/ld-host/CommandLine",
            swiftSettings: settings,
            // The tool has a main function, too, and is built whatever product is.
            plugins: fuzzes ? [] : ["EmbedTexts"]),
        .plugin(
            name: "LocalDataCommand",
            capability: .command(
                intent: .custom(verb: "localdata", description: "builds plugins, and folders to deploy")),
            path: "Sources/ld-host/Bundling",
            exclude: ["Together"]),
        // The command builds one product after the other, and before them, this.
        .target(
            name: "DefaultPlugins",
            dependencies: ["LocalData"] + defaultPlugins.map { .byName(name: entry(of: $0)) },
            path: "Sources/ld-host/Bundling/Together",
            swiftSettings: settings),
        .target(name: "ScratchHome", path: "Tests/ScratchHome"),
        .target(
            name: "ReaderExercise",
            dependencies: ["LocalDataHost", "LocalDataAPI"],
            path: "Tests/Fuzz/Reader",
            swiftSettings: settings),
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
        .target(
            name: "MigrationExercise",
            dependencies: ["LocalDataHost", "LocalDataAPI"],
            path: "Tests/Migrations/Exercise",
            swiftSettings: settings),
        .executableTarget(
            name: "migration-exercise",
            dependencies: ["MigrationExercise", "TestSupport", "LocalDataHost", "LocalDataAPI", "CLinux"],
            path: "Tests/Migrations/Program",
            swiftSettings: settings),
        .target(
            name: "MigrationManifest",
            dependencies: ["LocalDataAPI", "DurableFiles", "ByteCoding", "JSON"],
            path: "Sources/Migrators/StandardMigrations/Manifest",
            swiftSettings: settings),
        .target(
            name: "StandardMigrations",
            dependencies: ["LocalDataAPI", "MigrationManifest"],
            path: "Sources/Migrators/StandardMigrations",
            exclude: ["Manifest"],
            swiftSettings: settings),
        .testTarget(
            name: "StandardMigrationsTests",
            dependencies: ["MigrationManifest", "LocalDataHost", "LocalDataAPI", "JSON"],
            swiftSettings: settings),
        .testTarget(name: "LocalDataAPITests", dependencies: ["LocalDataAPI"], swiftSettings: settings),
        .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: settings),
        .testTarget(
            name: "DurableFilesTests", dependencies: ["DurableFiles", "LocalDataAPI", "CChecksum"],
            swiftSettings: settings),
        .testTarget(
            name: "FileStoreTests",
            dependencies: ["FileStore", "LocalDataAPI", "CLinux"],
            swiftSettings: settings),
        .testTarget(
            name: "FolderSyncTests",
            dependencies: ["FolderSync", "DurableFiles", "LocalDataHost", "LocalDataAPI", "CLinux"],
            swiftSettings: settings),
        .testTarget(
            name: "SQLiteStoreTests",
            dependencies: ["LocalDataHost", "LocalDataAPI", "CSQLite"],
            swiftSettings: settings),
        .testTarget(
            name: "LocalDataHostTests",
            dependencies: lowerFloors + [
                "HostClients", "LocalDataHost", "LocalDataAPI", "LocalDataPluginAPI", "DurableFiles", "ByteCoding",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EnvelopeTests",
            dependencies: lowerFloors + ["ReaderExercise", "LocalDataHost", "LocalDataAPI"],
            exclude: ["Reference", "Vectors"],
            swiftSettings: settings),
        .testTarget(
            name: "ConformanceTests",
            dependencies: ["LocalDataTesting", "LocalDataHost", "LocalDataAPI"],
            swiftSettings: settings),
        .testTarget(
            name: "CryptoTests",
            dependencies: ["LocalDataTesting", "LocalDataHost", "LocalDataAPI"],
            exclude: ["Vectors"],
            swiftSettings: settings),
        .testTarget(
            name: "AuthoringTests",
            dependencies: ["LocalDataHost", "LocalDataAPI", "LocalDataPluginAPI", "LocalDataTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "SecretServiceTests",
            dependencies: ["LocalDataHost", "LocalDataAPI"],
            exclude: ["Programs"],
            swiftSettings: settings),
        .testTarget(
            name: "PostgreSQLStoreTests",
            dependencies: ["LocalDataHost", "LocalDataAPI"],
            exclude: ["Programs"],
            swiftSettings: settings),
        .testTarget(
            name: "NATSSyncTests",
            dependencies: ["LocalDataHost", "LocalDataAPI"],
            exclude: ["Programs"],
            swiftSettings: settings),
        .testTarget(
            name: "CommandLineTests",
            dependencies: lowerFloors + ["MigrationExercise", "FolderSync", "LocalDataHost", "LocalDataAPI", "CLinux"],
            exclude: ["Sessions", "Programs"],
            swiftSettings: settings),
        .testTarget(
            name: "ExamplesTests",
            dependencies: ["LocalDataTesting", "LocalDataHost", "LocalDataAPI"],
            exclude: ["Expected"],
            swiftSettings: settings),
        .testTarget(
            name: "PackagingTests",
            dependencies: ["LocalDataHost"],
            exclude: ["Session"],
            swiftSettings: settings),
    ] + hostTargets + systemLibraries + backendTargets + entryTargets + fuzzTargets + (fuzzes ? [] : embeddingTargets)
)

// No test reaches the home of the person who runs it. No product has either target, so a package that depends on this
// one does not build them.
for target in package.targets where target.type == .test {
    target.dependencies.insert(contentsOf: ["ScratchHome", "TestSupport"], at: 0)
}
