import Testing

/// The folder of app groups has one of a group that the user is not in.
@Suite("A group's folder that a user cannot read", .enabled(if: Users.areAvailable))
struct ClosedGroupsAsRootTests {
    private let users: Users
    private let shared: String
    private var options: [String] { ["-c", "appGroups.path=\(shared)"] }

    init() throws {
        users = try Users()
        shared = try users.shared("shared", owner: users.first)
        for user in [users.first, users.second] {
            let ending = try users.run(user, options + ["set", "appGroupUserDefaults:of\(user.number)/theme", "dark"])
            try #require(ending.status == 0, "\(ending.errors)")
        }
    }

    @Test("is passed over with a warning; the other groups are listed", arguments: ["file", "sqlite"])
    func passedOver(store: String) throws {
        let closed = "\(shared)/closed"
        try users.makeFolder(closed, 0o700, users.first)
        let serving = options + ["-c", "domains.appGroupUserDefaults=\(store)"]
        for group in ["closed", "open"] {
            let ending = try users.run(users.first, serving + ["set", "appGroupUserDefaults:\(group)/theme", "dark"])
            try #require(ending.status == 0, "\(ending.errors)")
        }
        let found = try users.run(users.second, serving + ["ls", "appGroupUserDefaults"])
        #expect(found.status == 0, "\(found.errors)")
        #expect(found.text.contains("appGroupUserDefaults:open/theme\n"), "\(found.text)")
        #expect(!found.text.contains("closed"), "\(found.text)")
        let warning = "warning folders: values in '\(closed)/userDefaults' are skipped: "
        #expect(found.errors.split(separator: "\n").count { $0.hasPrefix(warning) } == 1, "\(found.errors)")
        let named = try users.run(users.second, serving + ["ls", "appGroupUserDefaults:closed"])
        #expect(named.status == 2 && named.errors.contains("EACCES"), "\(named.errors)")
    }
}
