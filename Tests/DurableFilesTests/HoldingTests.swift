import DurableFiles
import FoundationEssentials
import Glibc
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@Suite("Holding a file")
struct HoldingTests {
    private let folder: TemporaryFolder
    private let directory: DurableDirectory
    private let other: DurableDirectory
    private let file = RelativePath("a")

    init() throws {
        folder = try TemporaryFolder()
        directory = try DurableDirectory(root: folder.path)
        other = try DurableDirectory(root: folder.path)
    }

    private struct Absent: Error {}
    private enum Finding: Equatable { case held, elsewhere, missing }

    /// The finding of another process that tries to hold the file, and releases it at once.
    private func attempt() throws -> Finding {
        switch try other.hold(file) {
        case .held: .held
        case .elsewhere: .elsewhere
        case .missing: .missing
        }
    }

    private func replace(_ text: String, holding held: inout HeldFile?) throws {
        try Array(text.utf8).withUnsafeBytes { try directory.replace(file, holding: &held, with: $0) }
    }

    @Test("is possible for one holder at a time, until it releases the file")
    func exclusive() throws {
        #expect(try attempt() == .missing)
        try directory.replace("a", "one")
        #expect(try attempt() == .held)
        do {
            guard case .held(let held) = try directory.hold(file) else { throw Absent() }
            #expect(try attempt() == .elsewhere)
            #expect(try held.file.status().size == 3)
        }
        #expect(try attempt() == .held)
    }

    @Test("passes to the new file when the holder replaces it, and stays with the old one if that fails")
    func replaced() throws {
        var held: HeldFile?
        try replace("one", holding: &held)
        #expect(try attempt() == .elsewhere)
        try replace("two", holding: &held)
        #expect(try attempt() == .elsewhere)
        #expect(try directory.text("a") == "two")
        // Puts a pipe where the temporary files are made.
        try FileManager.default.removeItem(atPath: "\(folder.path)/.tmp")
        #expect(mkfifo("\(folder.path)/.tmp", 0o600) == 0)
        #expect(throws: StorageError.self) { try replace("three", holding: &held) }
        #expect(try attempt() == .elsewhere)
        #expect(try directory.text("a") == "two")
        held = nil
        #expect(try attempt() == .held)
    }

    @Test("can be queried without blocking anyone")
    func asked() throws {
        try directory.replace("a", "one")
        guard let opened = try other.open(file) else { throw Absent() }
        #expect(try other.isHeld(opened, as: file) == false)
        #expect(try attempt() == .held)
        var held: HeldFile?
        try replace("two", holding: &held)
        #expect(try other.isHeld(opened, as: file) == nil, "the file that was opened is no longer the one of that name")
        guard let again = try other.open(file) else { throw Absent() }
        #expect(try other.isHeld(again, as: file) == true)
        #expect(try directory.remove(file))
        #expect(try other.isHeld(again, as: file) == true, "still held, if gone")
        held = nil
        #expect(try other.isHeld(again, as: file) == nil)
    }

    @Test("succeeds for one of many that try at once, also while the file is replaced")
    func race() throws {
        let (path, file) = (folder.path, file)
        let inside = Atomic<Int>(0)
        let holds = Atomic<Int>(0)
        let failures = Mutex<[String]>([])
        try directory.replace("a", "")
        onThreads(8) { thread in
            do {
                let directory = try DurableDirectory(root: path)
                for _ in 0..<100 {
                    guard case .held(let held) = try directory.hold(file) else { continue }
                    if inside.add(1, ordering: .relaxed).newValue != 1 { failures.withLock { $0.append("two hold") } }
                    holds.add(1, ordering: .relaxed)
                    var kept: HeldFile? = held
                    try [UInt8(thread)].withUnsafeBytes { try directory.replace(file, holding: &kept, with: $0) }
                    inside.subtract(1, ordering: .relaxed)
                    _ = kept.take()
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock(\.self) == [])
        #expect(holds.load(ordering: .relaxed) > 0)
    }
}
