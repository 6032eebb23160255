import FoundationEssentials
import LocalDataHost
import ScratchHome
import TestSupport
import Testing

@Suite("The home of the tests")
struct ScratchHomeTests {
    private static let scratch = String(cString: ld_scratch_folder())

    /// The program that runs the tests.
    private static let program = TestRun.program

    @Test("is a scratch folder, for all that a router opens")
    func locations() {
        let current = ConfigurationLocations.current
        let home = "\(Self.scratch)/home"
        #expect(current.home == home)
        #expect(current.configurationDirectory == "\(home)/.config/localdata")
        #expect(current.dataDirectory == "\(home)/.local/share/localdata")
        #expect(current.cacheDirectory == "\(home)/.cache/localdata")
        #expect(current.stateDirectory == "\(home)/.local/state/localdata")
        #expect(current.namedFile == nil)
        #expect(current.pluginPath.isEmpty)
    }

    @Test("is made before anything else, whatever home the tests are started in")
    func realHome() throws {
        let real = try Home()
        let ending = try real.run(
            Self.program, ["--testing-library", "swift-testing", "--filter", "ScratchHomeTests/locations"],
            adding: ["LOCALDATA_CONFIG": "\(real.path)/config.json", "LOCALDATA_PLUGIN_PATH": real.path])
        #expect(ending.status == 0, "\(ending.text)\(ending.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: real.path).isEmpty)
    }

    @Test("is not replaced by another: the tests end at once")
    func ends() throws {
        let real = try Home()
        for (variables, reason) in [
            (["TMPDIR": "\(real.path)/absent"], "no scratch home can be made in: \(real.path)/absent"),
            (["LOCALDATA_TEST_SCRATCH": Self.scratch], "HOME lies outside of LOCALDATA_TEST_SCRATCH: \(real.path)"),
            (
                ["LOCALDATA_TEST_SCRATCH": Self.scratch, "HOME": "\(Self.scratch)/home"],
                "XDG_CONFIG_HOME: \(real.path)/config"
            ),
        ] {
            let ending = try real.run(Self.program, ["--testing-library", "swift-testing"], adding: variables)
            #expect(ending.status == 70)
            #expect(ending.errors == "error: the tests would run in a real home: \(reason)\n")
        }
    }
}
