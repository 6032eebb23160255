import LocalDataAPI
import TestSupport
import Testing
@testable import LocalDataHost

/// Successive releases of one container.
enum Releases {
    struct First: UserDefaultsContainer {
        static let name = "MySettings"
        static let prefix = "MyApp."
        @Setting var userName = "guest"
        @Setting var theme = "light"
    }

    struct Third: UserDefaultsContainer {
        static let name = "MySettings"
        static let prefix = "MyApp."
        static let version = 3
        static let steps = [
            ContainerStep(from: 1, to: 2, [.rename("userName", to: "username")]),
            ContainerStep(from: 2, to: 3) { store in try await store.setDefault(5, for: "maxRetries") },
        ]
        @Setting var username = "guest"
        @Setting var theme = "light"
        @Setting var maxRetries = 3
    }

    struct Gap: UserDefaultsContainer {
        static let name = "MySettings"
        static let prefix = "MyApp."
        static let version = 3
        static let steps = [ContainerStep(from: 2, to: 3, [.remove("theme")])]
    }

    struct Moved: UserDefaultsContainer {
        static let name = "MySettings"
        static let prefix = "New."
        static let version = 2
        static let versionKey = ContainerVersionKey("New.__version", formerly: ["MyApp.MySettings.__version", .shared])
        static let steps = [ContainerStep(from: 1, to: 2, [.movePrefix("MyApp.", to: "New.")])]
        @Setting var userName = "guest"
        @Setting var theme = "light"
    }

    struct Reserved: UserDefaultsContainer {
        @Setting(key: "__version") var number = 0
    }

    struct SharedOne: UserDefaultsContainer {
        static let version = 2
        static let versionKey = ContainerVersionKey.shared
        static let baseline = 2
    }

    struct SharedTwo: UserDefaultsContainer {
        static let version = 5
        static let versionKey = ContainerVersionKey.shared
        static let baseline = 5
    }
}
