import LocalDataAPI
import LocalDataHost

struct Settings: Sendable {
    @Stored(.theme) var theme = "light"
}

func useSettings(_ settings: Settings) async throws {
    try await settings.$theme.load()  // before that it is "light", which is never written
    settings.theme = "dark"  // shows at once, and is written in the background
    try await settings.$theme.save()
    try await StorageRouter.shared.batch { changes in  // all of them or none
        try changes.set("blue", for: .theme)
        try changes.set("Dear diary", for: .diary)
        changes.remove(.token)
    }
    for try await theme in try await StorageRouter.shared.changes(of: .theme) {  // also those of other processes
        print(theme ?? "removed")
    }
}
