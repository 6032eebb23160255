import Foundation
import TestSupport
import Testing

@Suite("A secret service that was the keychain before")
struct DiagnosisTests {
    private let session: Session

    init() throws { session = try Session(.keyring()) }

    /// Runs lines of sh with `ld-host` on the path; stops at the first command that fails.
    private func shell(_ lines: String) throws -> String {
        let end = try session.run(
            "/bin/sh", "-ec", lines, adding: ["PATH": "\(BuiltProducts.folder):/usr/bin:/bin"])
        try #require(end.status == 0, "\(end.errors)")
        return String(decoding: end.output, as: UTF8.self)
    }

    @Test("is named by doctor as long as it holds values, with advice that keeps other programs' values")
    func namesWhatIsLeft() throws {
        let prepared = try shell(
            """
            ld-host config set stores.desktop '{"component": "secret-service"}'
            ld-host config set domains.keychain desktop
            printf secret | ld-host set keychain:app/token --stdin
            ld-host doctor | grep '!!' || true
            """)
        #expect(prepared == "")
        let left = try shell("ld-host config set domains.keychain sealed-files; ld-host doctor | grep -A 1 '!!'")
        #expect(
            left == """
                !!  store 'desktop' still holds values of 'keychain:app', which 'sealed-files' serves now
                      copy them: ld-host store copy desktop sealed-files --domain keychain; not with --move, \
                which also removes other programs' values. Then: ld-host store forget desktop --domain keychain

                """)
        let moved = try shell(
            """
            ld-host store copy desktop sealed-files
            ld-host get keychain:app/token
            secret-tool lookup service app username token
            ld-host store forget desktop --domain keychain
            ld-host doctor | grep '!!' || true
            """)
        #expect(moved == "1 of 1 value was copied to 'sealed-files', which had 0\nsecretsecret")
    }

    @Test("that does not answer makes audit and doctor wait once; both name it and end with 2")
    func silent() throws {
        let session = try Session(.fault("silent"))
        func run(_ line: String) throws -> (status: Int32, text: String) {
            let end = try session.run(
                "/bin/sh", "-ec", line, adding: ["PATH": "\(BuiltProducts.folder):/usr/bin:/bin"])
            return (end.status, String(decoding: end.output, as: UTF8.self) + end.errors)
        }
        let prepared = try run(
            """
            ld-host config set stores.desktop '{"component": "secret-service", "options": {"timeout": 0.5}}'
            ld-host config set domains.keychain desktop
            """)
        try #require(prepared.status == 0, "\(prepared.text)")
        for command in ["audit", "doctor"] {
            let (status, text) = try run("cd; rm -f asked; ld-host \(command)")
            #expect(status == 2, "\(command): \(text)")
            #expect(text.contains("the secret service did not answer within 0.5 s"), "\(command): \(text)")
            // Every question that it gets is one that is waited for.
            let asked = try String(contentsOfFile: "\(session.home)/asked", encoding: .utf8)
            #expect(asked.split(separator: "\n").count == 1, "\(command): \(asked)")
        }
    }

    @Test("is found even if no configuration names it any more, until it is forgotten")
    func findsFormerComponent() throws {
        let output = try shell(
            """
            ld-host config set domains.keychain secret-service
            printf secret | ld-host set keychain:app/token --stdin
            ld-host config set domains.keychain sealed-files
            ld-host doctor | grep -A 1 '!!'
            ld-host store copy secret-service sealed-files
            ld-host get keychain:app/token
            ld-host store forget secret-service --domain keychain
            ld-host doctor | grep '!!' || true
            """)
        #expect(
            output == """
                !!  store 'secret-service' still holds values of 'keychain:app', which 'sealed-files' serves now
                      copy them: ld-host store copy secret-service sealed-files --domain keychain; not with \
                --move, which also removes other programs' values. Then: ld-host store forget secret-service \
                --domain keychain
                1 of 1 value was copied to 'sealed-files', which had 0
                secret
                """)
    }

    @Test("is emptied by a move that reads each value back, and then no longer serves")
    func moves() throws {
        let output = try shell(
            """
            ld-host config set stores.desktop '{"component": "secret-service"}'
            ld-host config set domains.keychain desktop
            printf 'a\\nb' | ld-host set keychain:app/lines --stdin
            printf secret | ld-host set keychain:app/token --stdin
            ld-host store copy desktop sealed-files --move
            ld-host config set domains.keychain sealed-files
            ld-host get keychain:app/lines
            ld-host get keychain:app/token
            secret-tool lookup service app username token || echo gone
            ld-host doctor | grep '!!' || true
            ld-host store copy sealed-files desktop --move
            secret-tool lookup service app username token
            """)
        #expect(
            output == """
                2 of 2 values were copied to 'sealed-files', which had 0
                2 values were removed from 'desktop'
                a
                bsecretgone
                2 of 2 values were copied to 'desktop', which had 0
                2 values were removed from 'sealed-files'
                secret
                """)
    }
}
