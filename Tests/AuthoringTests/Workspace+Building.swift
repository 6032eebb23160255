import TestSupport

extension Workspace {
    /// Builds a plugin in C and returns the path of its library.
    func build(_ source: String, header: String) throws -> String {
        let library = "\(path)/libBuilt.so"
        let outcome = try run(
            "cc",
            ["-std=c11", "-D_DEFAULT_SOURCE", "-shared", "-fPIC", "-pthread", "-I", header, source, "-o", library])
        guard outcome.status == 0 else { throw TestFailure(outcome.errors) }
        return library
    }
}
