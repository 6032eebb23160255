import LocalDataAPI
import LocalDataHost

struct AppSettings: UserDefaultsContainer {
    static let version = 3
    static let prefix = "MyApp."
    static let steps = [
        // The property was renamed.
        ContainerStep(from: 1, to: 2, [.rename("userName", to: "username")]),
        // Hours became minutes.
        ContainerStep(from: 2, to: 3) { store in
            guard let hours = try await store.get("interval", as: Int.self) else { return }
            try await store.set(hours * 60, for: "interval")
        },
    ]

    @Setting var username = "guest"
    @Setting(key: "colour_theme") var theme = "light"
    @Setting var interval = 60
}
