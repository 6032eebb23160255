import TestSupport
import Testing

@Suite("A command that runs while its configuration is changed") struct FollowedConfigurationTests {
    @Test("pipe answers from the store that serves the domain now, after each of many changes")
    func pipe() throws {
        let home = try Home()
        let ending = try home.shell(
            "/usr/bin/python3 '\(Repository.tests)/CommandLineTests/Programs/followed_configuration.py' 40")
        #expect(ending.status == 0 && ending.text == "followed 40 times\n", "\(ending.text)\(ending.errors)")
    }
}
