import FoundationEssentials
import Testing

/// Two members of a group whose apps share a container in the group's folder. Their homes and states are separate.
@Suite("A container that a group shares", .enabled(if: Users.areAvailable))
struct SharedContainersAsRootTests {
    private let users: Users
    private let shared: String

    init() throws {
        users = try Users()
        shared = try users.shared("shared", owner: users.first)
        for user in [users.first, users.second] {
            let folder = "\(user.home)/.config/localdata"
            for path in ["\(user.home)/.config", folder] { try users.makeFolder(path, 0o700, user) }
            try users.makeFile("\(folder)/config.json", Self.configuration(shared).utf8, 0o600, user)
        }
    }

    private static func configuration(_ shared: String) -> String {
        """
        {
          appGroups: { path: "\(shared)" },
          domains: { appGroupUserDefaults: "file" },
          migrations: { packs: {
            ours: {
              component: "standard",
              options: {
                containers: [
                  {
                    name: "Team", domain: "appGroupUserDefaults:g", version: 3,
                    properties: [{ name: "left" }, { name: "right" }],
                    steps: [
                      { from: 1, to: 2, changes: [{ renames: [
                        { from: "left", to: "right" }, { from: "right", to: "left" },
                      ] }] },
                      { from: 2, to: 3, changes: [{ renames: [
                        { from: "left", to: "right" }, { from: "right", to: "left" },
                      ] }] },
                    ],
                  },
                ],
              },
            },
          } },
        }
        """
    }

    @Test("is migrated once, however many members start at once") func race() async throws {
        for trial in 0..<6 {
            for (name, text) in [("left", "L\(trial)"), ("right", "R\(trial)")] {
                let ending = try users.run(users.first, ["set", "appGroupUserDefaults:g/Team.\(name)", text])
                try #require(ending.status == 0, "\(ending.errors)")
            }
            if trial > 0 {
                let ending = try users.run(users.first, ["rm", "appGroupUserDefaults:g/Team.__version"])
                #expect(ending.status == 0, "\(ending.errors)")
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for user in [users.first, users.second, users.first, users.second] {
                    group.addTask {
                        let ending = try users.run(user, ["migrate", "run"])
                        #expect(ending.status == 0, "\(user.number): \(ending.text) \(ending.errors)")
                    }
                }
                try await group.waitForAll()
            }
            // Each of the two steps swaps values: one that ran twice, or at the same time as another, would leave them
            // exchanged or lose one.
            for user in [users.first, users.second] {
                for (name, text) in [("left", "L\(trial)"), ("right", "R\(trial)"), ("__version", "3")] {
                    let found = try users.run(user, ["get", "appGroupUserDefaults:g/Team.\(name)"])
                    #expect(
                        found.text == text, "trial \(trial), \(user.number): \(name) is \(found.text) \(found.errors)")
                }
            }
        }
    }
}
