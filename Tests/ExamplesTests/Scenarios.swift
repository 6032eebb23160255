import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import Testing

enum Scenarios {
    struct MySettings: UserDefaultsContainer {
        static let version = 5
        static let prefix = "NewNetworkKit."
        static let versionKey = ContainerVersionKey("__MySettings_version")
        static let steps = [
            // Scenario 1: Module rename
            ContainerStep(from: 1, to: 2) { _ in
                try await UserDefaultsMigrationManager.migrateModule(
                    from: "OldNetworkKit.MySettings.username",
                    to: "NewNetworkKit.MySettings.username",
                    container: MySettings.self
                )
            },
            // Scenario 2: Container type rename
            ContainerStep(from: 2, to: 3) { _ in
                try await UserDefaultsMigrationManager.migrateContainer(
                    from: "NewNetworkKit.OldSettings", to: "NewNetworkKit.MySettings", container: MySettings.self)
            },
            // Scenario 3: Prefix strategy change
            ContainerStep(from: 3, to: 4) { _ in
                try await UserDefaultsMigrationManager.migratePrefix(
                    from: "com.oldcompany.NewNetworkKit.",
                    to: "NewNetworkKit.",
                    container: MySettings.self
                )
            },
            // Scenario 4: Batch property migration
            ContainerStep(from: 4, to: 5) { _ in
                try await UserDefaultsMigrationManager.migrateBatch(
                    [
                        ("oldUserName", "nickname"),
                        ("oldThemeName", "theme"),
                        ("oldDebugFlag", "isDebugMode"),
                    ], container: MySettings.self)
            },
        ]
        @Setting var username: String = "anonymous"
        @Setting var nickname: String = ""
        @Setting var theme: String = "light"
        @Setting var isDebugMode: Bool = false
    }
}
