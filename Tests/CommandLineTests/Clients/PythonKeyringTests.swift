import TestSupport
import Testing

@Suite("Examples/PythonKeyring")
struct PythonKeyringTests {
    private static let runs = TestRun.isTorture ? 10 : 1

    @Test("passes keyring's own tests of backends, and its own", arguments: ServingKeychain.all)
    func debian(_ keychain: ServingKeychain) throws { try play([:], over: keychain) }

    @Test(
        "passes the latest keyring's tests of backends",
        .enabled(if: PythonPackages.areInstalled, PythonPackages.reason), arguments: ServingKeychain.all)
    func latest(_ keychain: ServingKeychain) throws {
        try play(["PYTHONPATH": PythonPackages.folder], over: keychain)
    }

    /// Runs the tests several times in one home, so that a run meets the data of the run before.
    private func play(_ variables: [String: String], over keychain: ServingKeychain) throws {
        let ending = try Home().clients(
            """
            cd "$PACKAGE/Examples/PythonKeyring"
            for run in $(seq \(Self.runs)); do /usr/bin/python3 -m pytest -q -p no:cacheprovider; done
            """, over: keychain, adding: variables)
        #expect(ending.status == 0, "\(ending.text)\(ending.errors)")
        #expect(ending.text.split(separator: "\n").count { $0.contains(" passed") } == Self.runs, "\(ending.text)")
    }
}
