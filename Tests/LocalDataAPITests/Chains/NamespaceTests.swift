import FoundationEssentials
import Testing
@testable import LocalDataAPI

@Suite("Types with one name in two namespaces") struct NamespaceTests {
    @Test("are refused with both namespaces and what to do, and that works") func namespaces() async throws {
        let builder = DataMigrator<Release2.Profile>.Builder(targetType: Release2.Profile.self)
        builder.register(from: Release1.Profile.self, to: Release2.Profile.self) { Release2.Profile(name: $0.name) }
        let refusal = #expect(throws: MigrationError.self) { try builder.build() }
        #expect(refusal?.code == .ambiguous)
        #expect(
            refusal?.message.contains("Release1.Profile and Release2.Profile both have the version 'Profile'") == true,
            "\(refusal?.message ?? "")")
        #expect(refusal?.message.contains("give the newer one another: let it be a VersionedValue") == true)
        let mended = DataMigrator<Release3.Profile>.Builder(targetType: Release3.Profile.self)
        mended.register(from: Release1.Profile.self, to: Release3.Profile.self) {
            Release3.Profile(name: $0.name, email: "converted")
        }
        let migrator = try mended.build()
        #expect(migrator.versionTags == ["3", "Profile"])
        let old = Data(#"{"name":"Ada"}"#.utf8)
        let tagged = try await migrator.migrate(data: old, versionTag: "Profile").data
        #expect(try JSONDecoder().decode(Release3.Profile.self, from: tagged).email == "converted")
        let error = await #expect(throws: MigrationError.self) { try await migrator.value(in: old) }
        #expect(
            error?.message.contains("Release3.Profile or Release1.Profile") == true, "\(error?.message ?? "")")
        #expect(try await mended.assumeUntagged(Release1.Profile.self).build().value(in: old).email == "converted")
    }

    @Test("the chain warns of versions with the same members, unless the app says which one is meant")
    func twins() throws {
        struct First: Codable, Equatable {
            var size: Int
            var names: [String]
        }
        struct Second: Codable, Equatable {
            var size: Double
            var names: [String]
        }
        struct Third: Codable, Equatable { var size: Double }
        let builder = DataMigrator<Second>.Builder(targetType: Second.self)
        builder.register(from: First.self, to: Second.self) { Second(size: Double($0.size), names: $0.names) }
        builder.register(from: Third.self, to: Second.self) { Second(size: $0.size, names: []) }
        let warnings = try builder.build().warnings
        #expect(warnings.count == 1 && warnings.first?.contains("First and Second have the same members") == true)
        #expect(try builder.assumeUntagged(First.self).build().warnings.isEmpty)
    }
}
