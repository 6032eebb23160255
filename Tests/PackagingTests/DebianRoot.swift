import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

/// A minimal Debian of this machine's release, from this machine's package sources, with git. It is removed with the
/// object.
final class DebianRoot: Sendable {
    let path: String
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        path = "\(folder.path)/root"
        // Gives the root's apt-get this machine's package sources and settings.
        try Self.run(
            """
            . /etc/os-release
            sources=$(grep -lsE "(^|[[:space:]])$VERSION_CODENAME([[:space:]]|\\$)" \
                /etc/apt/sources.list /etc/apt/sources.list.d/* || true)
            mmdebstrap --quiet --mode=root --variant=apt --include=ca-certificates,git,man-db "$VERSION_CODENAME" \
                '\(path)' $sources
            cp /etc/resolv.conf '\(path)/etc/resolv.conf'
            apt-config dump --format '%F "%v";%n' Acquire > '\(path)/etc/apt/apt.conf.d/99acquire'
            useradd --root '\(path)' --create-home ann
            """)
    }

    /// Runs a shell command in the root, as root or as another user with that user's home.
    @discardableResult
    func run(_ command: String, as user: String? = nil) throws -> String {
        let login = user.map { ["/usr/bin/su", "-", $0, "--command", command] } ?? ["/bin/sh", "-euc", command]
        return try DebianRoot.run(
            [
                "unshare", "--mount", "--pid", "--fork", "--mount-proc=\(path)/proc", "chroot", path, "/usr/bin/env",
                "DEBIAN_FRONTEND=noninteractive",
            ] + login)
    }

    /// The files of the root except those in `/home` and the state of apt and dpkg.
    func files() throws -> Set<String> {
        let memory = ["/home", "/proc", "/var/cache", "/var/lib/apt", "/var/lib/dpkg", "/var/log"]
        let pruned = memory.map { "-path \($0) -prune -o" }.joined(separator: " ")
        return Set(try run("find / \(pruned) -print").split(separator: "\n").map(String.init))
    }

    /// Runs a shell command on this machine.
    ///
    /// - Returns: Standard output.
    @discardableResult
    static func run(_ command: String) throws -> String { try run(["bash", "-euc", command]) }

    private static func run(_ words: [String]) throws -> String {
        var environment = TestRun.environment
        environment["PATH"] = "\(environment["PATH"] ?? "/usr/bin:/bin"):/usr/sbin:/sbin"
        let end = try ChildProcess("/usr/bin/env", arguments: words, environment: environment)
            .run(deadline: .seconds(7200))
        let output = String(decoding: end.output, as: UTF8.self)
        guard end.outcome == .exited(code: 0) else {
            throw TestFailure(
                "\(words.last ?? ""): \(end.outcome)\n\(output.suffix(4000))\(end.errorText.suffix(4000))")
        }
        return output
    }
}
