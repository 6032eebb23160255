import Foundation
import LocalDataAPI
import LocalDataHost
import Synchronization
import TestSupport
import Testing

@Suite("Locked collections of the secret service")
struct PromptTests {
    private static let address = StorageAddress.secret("service", "user")

    /// A session whose default collection has a value and is locked.
    private func lockedSession(_ answers: String...) throws -> Session {
        let session = try Session(.keyring(answers: answers))
        try session.open().set(Self.address, to: Data("value".utf8))
        try session.client("storage", "lock")
        return session
    }

    @Test("are unlocked by the password from the prompt, once for all threads")
    func unlocked() throws {
        let session = try lockedSession("ok:\(Session.password)")
        let store = try session.open()
        // The prompter would have no answer for a second question.
        let found = Mutex(0)
        onThreads(8) { _ in
            #expect(throws: Never.self) {
                if try store.get(Self.address) == Data("value".utf8) { found.withLock { $0 += 1 } }
            }
        }
        #expect(found.withLock { $0 } == 8)
    }

    @Test("are unlocked for every call that needs it", arguments: FaultTests.Call.allCases)
    func unlockedFor(_ call: FaultTests.Call) throws {
        let session = try lockedSession("ok:\(Session.password)")
        try call.make(on: session.open())
    }

    @Test("stay locked when a caller asks whether a value exists")
    func existsWithoutUnlocking() throws {
        let session = try lockedSession("cancel")
        let store = try session.open(SecretOptions(promptTimeout: 0))
        #expect(try store.exists(Self.address))
        #expect(try !store.exists(.secret("service", "other")))
        #expect(try store.get(.secret("service", "other")) == nil)
        #expect(throws: StorageError.keychainError) { try store.get(Self.address) }
    }

    @Test("stay locked when the person refuses")
    func cancelled() throws {
        let session = try lockedSession("cancel", "ok:\(Session.password)")
        let store = try session.open()
        let error = try #require(throws: StorageError.self) { try store.get(Self.address) }
        #expect(error.code == .cancelled && error.message.contains("dismissed"), "\(error)")
        #expect(try store.get(Self.address) == Data("value".utf8))
    }

    @Test("are a distinct error without a screen for the prompt")
    func noScreen() throws {
        let session = try lockedSession()
        let end = try session.store("get", "keychain", "service", "user")
        #expect(end.status == 2)
        #expect(end.errors.contains("reported: 5: the default collection is locked or missing"), "\(end.errors)")
        #expect(end.errors.contains("no screen"), "\(end.errors)")
    }

    @Test("are created, with a password that the person chooses, if the options name a missing one")
    func made() throws {
        let session = try Session(.keyring(answers: ["ok:another password"]))
        let store = try session.open(SecretOptions(collection: "My Secrets"))
        #expect(try store.get(Self.address) == nil)
        try store.set(Self.address, to: Data("value".utf8))
        #expect(try store.get(Self.address) == Data("value".utf8))
        // The collection is found by its label, and not created again.
        #expect(try session.open(SecretOptions(collection: "My Secrets")).get(Self.address) == Data("value".utf8))
        #expect(try session.open().get(Self.address) == nil)
    }

    @Test(
        "are an error within the prompt's time limit, whatever the service does with the prompt",
        arguments: [
            ("dismissing", .cancelled, "dismissed"), ("waiting", .timedOut, "nobody answered"),
            ("vanishing", .storeUnavailable, "ended during the call"), ("stubborn", .keychainError, "locked"),
        ] as [(String, StorageError.Code, String)])
    func faults(_ fault: String, _ code: StorageError.Code, _ text: String) throws {
        let session = try Session(.fault(fault))
        let store = try session.open(SecretOptions(promptTimeout: 0.5))
        let start = SuspendingClock.now
        let error = try #require(throws: StorageError.self) { try store.get(Self.address) }
        #expect(error.code == code && error.message.contains(text), "\(error)")
        #expect(SuspendingClock.now - start < .seconds(15))
    }

    @Test("are dismissed when the prompt's time limit is over")
    func takenBack() throws {
        let session = try Session(.fault("waiting"))
        let store = try session.open(SecretOptions(promptTimeout: 0.3))
        #expect(throws: StorageError.timedOut) { try store.get(Self.address) }
        // Messages of one connection arrive in order: once this is answered, all earlier ones have arrived.
        #expect(try store.exists(Self.address))
        let asked = try String(contentsOfFile: "\(session.home)/asked", encoding: .utf8).split(separator: "\n")
        let prompt = "/org/freedesktop/secrets/prompt/p1"
        #expect(asked.filter { $0.hasSuffix(prompt) } == ["Prompt \(prompt)", "Dismiss \(prompt)"], "\(asked)")
    }

    @Test("are not shown if the options allow no time for a prompt")
    func unasked() throws {
        let session = try Session(.fault("dismissing"))
        let store = try session.open(SecretOptions(promptTimeout: 0))
        let error = try #require(throws: StorageError.self) { try store.get(Self.address) }
        #expect(error.code == .keychainError && error.message.contains("is locked, and"), "\(error)")
    }
}
