import TestSupport
import Testing

/// A store that serves the keychain in a test of a client, and how to set it up.
struct ServingKeychain: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// A program, with its arguments, that runs a shell in which the store can be reached.
    var wrapper: [String] = []
    /// Lines that the shell runs before those of the test.
    var preparation = ""

    /// Every store that the clients are tested with.
    static let all = [
        ServingKeychain(testDescription: "sealed files"),
        ServingKeychain(
            testDescription: "the Secret Service",
            wrapper: ["/bin/sh", "\(Repository.root)/Tests/CommandLineTests/Programs/keyring_session.sh"],
            preparation: "ld-host config set domains.keychain secret-service"),
    ]
}

extension Home {
    /// Runs a script with sh, which ends at the first command that fails. The helpers of git and Docker are on its
    /// path, and git is configured to use its helper.
    func clients(
        _ script: String, over keychain: ServingKeychain, adding variables: [String: String] = [:]
    ) throws -> Ending {
        let words =
            keychain.wrapper + [
                "/bin/sh", "-c",
                """
                set -eu
                cd "$HOME"
                mkdir -p bin
                for helper in git docker; do ln -sf "$BIN/ld-host" "bin/$helper-credential-localdata"; done
                PATH="$HOME/bin:$PATH"
                export PATH
                git config --global credential.helper localdata
                \(keychain.preparation)
                \(script)
                """,
            ]
        let own = [
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "PYTHONDONTWRITEBYTECODE": "1",
        ]
        return try run("/usr/bin/env", words, adding: own.merging(variables) { $1 })
    }
}
