import Testing

@Suite("docker-py with the credential helper")
struct DockerClientTests {
    @Test(
        "stores, lists, reads and erases", .enabled(if: PythonPackages.areInstalled, PythonPackages.reason),
        arguments: ServingKeychain.all)
    func store(_ keychain: ServingKeychain) throws {
        let ending = try Home().clients(
            "/usr/bin/python3 \"$PACKAGE/Tests/CommandLineTests/Programs/docker_store.py\"", over: keychain,
            adding: ["PYTHONPATH": PythonPackages.folder])
        #expect(ending.status == 0, "\(ending.errors)")
    }
}
