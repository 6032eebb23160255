import Foundation
import LocalDataAPI
import Testing

@Suite("Many processes at the secret service")
struct CrowdTests {
    /// Runs sixteen processes that write fifty values each at the same time; each checks the values that it reads.
    private func crowd(_ names: String, in session: Session) throws {
        let end = try session.run(
            "/bin/sh", "-c",
            """
            processes=
            for process in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
                "$0" "$1" "$2" write \(names) 50 & processes="$processes $!"
            done
            for process in $processes; do wait $process || echo "ended with $?"; done
            """, try StoreProgram.built.get(), StoreProgram.plugin, SecretOptions(timeout: 60).json)
        #expect(end.status == 0 && end.output.isEmpty, "\(String(decoding: end.output, as: UTF8.self))\(end.errors)")
    }

    @Test("lose nothing under separate names", .timeLimit(.minutes(5)))
    func ownNames() throws {
        let session = try Session(.keyring())
        try crowd("first-$process second-$process", in: session)
        let store = try session.open()
        let names = try store.names(in: StorageNamespace(domain: "keychain", scope: "crowd"))
        #expect(names == (1...16).flatMap { ["first-\($0)", "second-\($0)"] }.sorted())
        for name in names {
            // The last of the rounds 0 to 49 that wrote the name: 48 or 49.
            let last = name.hasPrefix("first") ? " 48>" : " 49>"
            let value = try #require(try store.get(.secret("crowd", name)))
            #expect(String(decoding: value, as: UTF8.self).hasSuffix(last), "\(name)")
        }
    }

    @Test("read whole values under one name, and leave one item", .timeLimit(.minutes(5)))
    func oneName() throws {
        let session = try Session(.keyring())
        try crowd("shared", in: session)
        #expect(try session.items("crowd", "shared").count == 1)
    }
}
