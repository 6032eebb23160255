import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostSealing
@testable import LocalDataHost

@Suite("slow derivations", .timeLimit(.minutes(2))) struct SlowDerivationTests {
    @Test("a value whose key needs one waits for the running one, and other values do not")
    func oneAtATime() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let slow = textKey("slow", security: .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 10))))
        let quick = textKey("quick", security: .recommended)
        try await router.set("before", for: slow)
        let (begun, ended, written) = (Counter(), Counter(), Counter())
        async let holder: Void = onIOThread { () throws(StorageError) in
            SlowDerivations.alone {
                begun.add()
                while ended.value == 0 { usleep(1000) }
            }
        }
        // The holder ends even if a check below fails.
        defer { ended.add() }
        while begun.value == 0 { try await Task.sleep(for: .milliseconds(1)) }
        async let writer: Void = Self.count(written) { try await router.set("after", for: slow) }
        try await router.set("meanwhile", for: quick)
        #expect(try await router.get(quick) == "meanwhile")
        try await Task.sleep(for: .milliseconds(100))
        #expect(written.value == 0)
        ended.add()
        try await writer
        try await holder
        #expect(try await router.get(slow) == "after")
    }

    private static func count(_ written: Counter, _ write: @Sendable () async throws -> Void) async throws {
        try await write()
        written.add()
    }
}
