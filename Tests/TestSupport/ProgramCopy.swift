import Glibc

/// Copies of programs that a test starts.
package enum ProgramCopy {
    /// Copies a file with its mode, into a folder or to a path.
    ///
    /// Not by this process: it would write the file through a descriptor that a child shares which another test is just
    /// starting, and the system starts no program that somebody can still write ("text file busy").
    package static func make(of path: String, at destination: String) throws {
        let arguments: [UnsafeMutablePointer<CChar>?] = ["cp", "-p", path, destination].map { (text: String) in
            strdup(text)
        }
        defer { arguments.forEach { free($0) } }
        var process = pid_t(0)
        var status: CInt = 0
        let failure = posix_spawn(&process, "/bin/cp", nil, nil, arguments + [nil], environ)
        if failure == 0 { while waitpid(process, &status, 0) < 0 && errno == EINTR {} }
        guard failure == 0, status == 0 else {
            throw TestFailure("'\(path)' was not copied to '\(destination)': \(failure), \(status)")
        }
    }
}
