import Foundation
import LocalDataAPI
import LocalDataHost
import Synchronization
import TestSupport
import Testing

@Suite("Locked collections of the secret service")
struct PromptTests {
    private static let address = StorageAddress.secret("service", "user")

    /// A session whose default collection holds a value and is locked.
    private func lockedSession(_ answers: String...) throws -> Session {
        let session = try Session(.keyring(answers: answers))
        try session.open().set(Self.address, to: Data("value".utf8))
        try session.client("storage", "lock")
        return session
    }

    @Test("are unlocked by the password that the person at the prompt gives, once for all threads")
    func unlocked() throws {
        let session = try lockedSession("ok:\(Session.password)")
        let store = try session.open()
        // A second question would find the prompter without an answer.
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

    @Test("stay locked for a question whether a value is there")
    func existsWithoutUnlocking() throws {
        let session = try lockedSession("cancel")
        let store = try session.open(SecretOptions(promptTimeout: 0))
        #expect(try store.exists(Self.address))
        #expect(try !store.exists(.secret("service", "other")))
        #expect(try store.get(.secret("service", "other")) == nil)
        #expect(throws: StorageError.keychainError) { try store.get(Self.address) }
    }

    @Test("stay locked when the person says no")
    func cancelled() throws {
        let session = try lockedSession("cancel", "ok:\(Session.password)")
        let store = try session.open()
        let error = try #require(throws: StorageError.self) { try store.get(Self.address) }
        #expect(error.code == .cancelled && error.message.contains("dismissed"), "\(error)")
        #expect(try store.get(Self.address) == Data("value".utf8))
    }

    @Test("are a distinct error where there is no screen for the prompt")
    func noScreen() throws {
        let session = try lockedSession()
        let end = try session.store("get", "keychain", "service", "user")
        #expect(end.status == 2)
        #expect(end.errors.contains("reported: 5: the default collection is locked or missing"), "\(end.errors)")
        #expect(end.errors.contains("no screen"), "\(end.errors)")
    }

    @Test("are made, with a password that the person chooses, if the options name one that is missing")
    func made() throws {
        let session = try Session(.keyring(answers: ["ok:another password"]))
        let store = try session.open(SecretOptions(collection: "My Secrets"))
        #expect(try store.get(Self.address) == nil)
        try store.set(Self.address, to: Data("value".utf8))
        #expect(try store.get(Self.address) == Data("value".utf8))
        // Found again by its label, and not made again.
        #expect(try session.open(SecretOptions(collection: "My Secrets")).get(Self.address) == Data("value".utf8))
        #expect(try session.open().get(Self.address) == nil)
    }

    @Test(
        "are an error within the person's time, whatever the service makes of its question",
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

    @Test("are dismissed when the person's time is up")
    func takenBack() throws {
        let session = try Session(.fault("waiting"))
        let store = try session.open(SecretOptions(promptTimeout: 0.3))
        #expect(throws: StorageError.timedOut) { try store.get(Self.address) }
        // Messages of one connection come in order: when this has its answer, everything before it has come.
        #expect(try store.exists(Self.address))
        let asked = try String(contentsOfFile: "\(session.home)/asked", encoding: .utf8).split(separator: "\n")
        let prompt = "/org/freedesktop/secrets/prompt/p1"
        #expect(asked.filter { $0.hasSuffix(prompt) } == ["Prompt \(prompt)", "Dismiss \(prompt)"], "\(asked)")
    }

    @Test("are not shown if the options give the person no time")
    func unasked() throws {
        let session = try Session(.fault("dismissing"))
        let store = try session.open(SecretOptions(promptTimeout: 0))
        let error = try #require(throws: StorageError.self) { try store.get(Self.address) }
        #expect(error.code == .keychainError && error.message.contains("is locked, and"), "\(error)")
    }
}
