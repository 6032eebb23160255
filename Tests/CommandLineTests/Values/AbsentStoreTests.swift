import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A disk that is not mounted leaves an empty folder in its place.
@Suite("A key whose values are on a disk that is not mounted")
struct AbsentStoreTests {
    enum Case: String, CaseIterable {
        case files, database, folder
    }

    private let home: Home

    init() throws { home = try Home() }

    /// Stores a sealed value on the disk, and returns its address and the key's id.
    private func fill(_ kind: Case) throws -> (address: String, key: String) {
        let disk = "\(home.path)/disk"
        try FileManager.default.createDirectory(atPath: "\(disk)/folder", withIntermediateDirectories: true)
        chmod("\(disk)/folder", 0o700)
        var address = "encryptedFileSystem/p"
        switch kind {
        case .files:
            try home.done(
                "config", "set", "stores.x", #"{"component":"file","options":{"root":"\#(disk)/values"}}"#)
            try home.done("config", "set", "domains.encryptedFileSystem", "x")
        case .database:
            try home.done(
                "config", "set", "stores.x", #"{"component":"sqlite","options":{"path":"\#(disk)/values.sqlite"}}"#)
            try home.done("config", "set", "domains.encryptedFileSystem", "x")
        case .folder:
            let scope = "\(disk)/folder".replacing("/", with: "%2F")
            address = "encryptedFileSystem:\(scope)/p"
            // The store itself has other values.
            try home.done("set", "encryptedFileSystem/other", "--stdin", input: Array("other".utf8))
        }
        try home.done("set", address, "--stdin", input: Array("precious".utf8))
        return (address, String(try home.done("keys", "list").text.prefix(32)))
    }

    private func unmount() throws {
        try FileManager.default.moveItem(atPath: "\(home.path)/disk", toPath: "\(home.path)/away")
        try FileManager.default.createDirectory(atPath: "\(home.path)/disk", withIntermediateDirectories: false)
    }

    @Test("is not retired, and reseal and doctor do not pass over it", arguments: Case.allCases)
    func kept(_ kind: Case) throws {
        let (address, key) = try fill(kind)
        try unmount()
        try home.done("keys", "rotate")
        let reseal = try home.run("reseal")
        #expect(reseal.status == 2, "\(reseal.text)\(reseal.errors)")
        let doctor = try home.run("doctor")
        #expect(doctor.status == 2, "\(doctor.text)")
        #expect(doctor.text.contains("has sealed values in '"), "\(doctor.text)")
        #expect(doctor.text.contains("mount its disk"), "\(doctor.text)")
        let retire = try home.run("keys", "retire", key)
        #expect(retire.status == 2, "\(retire.text)\(retire.errors)")
        #expect(retire.errors.contains("has sealed values in '"), "\(retire.errors)")
        #expect(retire.errors.contains("mount its disk"), "\(retire.errors)")
        try FileManager.default.removeItem(atPath: "\(home.path)/disk")
        try FileManager.default.moveItem(atPath: "\(home.path)/away", toPath: "\(home.path)/disk")
        #expect(try home.done("get", address).text == "precious")
        try home.done("doctor")
        try home.done("reseal")
        try home.done("keys", "retire", key)
        #expect(try home.done("get", address).text == "precious")
    }

    @Test("is retired once the user says that the values are gone", arguments: Case.allCases)
    func gone(_ kind: Case) throws {
        let (_, key) = try fill(kind)
        try unmount()
        try home.done("keys", "rotate")
        let hint = try #require(try home.run("keys", "retire", key).errors.split(separator: "run: ").last)
        #expect(try home.shell(String(hint)).status == 0, "\(hint)")
        try home.done("reseal")
        try home.done("keys", "retire", key)
    }
}
