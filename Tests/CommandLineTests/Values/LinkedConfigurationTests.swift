import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite("A configuration that is a link")
struct LinkedConfigurationTests {
    @Test("counts as the file that it leads to, and is an error if that is gone", arguments: [true, false])
    func gone(_ isFolder: Bool) throws {
        let home = try Home()
        let folder = "\(home.path)/config/localdata"
        try FileManager.default.createDirectory(
            atPath: "\(home.path)/\(isFolder ? "config" : "config/localdata")", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: "\(home.path)/dots", withIntermediateDirectories: false)
        try Data(#"{"domains": {"userDefaults": "file"}}"#.utf8).write(
            to: URL(filePath: "\(home.path)/dots/config.json"))
        let link = isFolder ? folder : "\(folder)/config.json"
        #expect(symlink(isFolder ? "\(home.path)/dots" : "\(home.path)/dots/config.json", link) == 0)
        try home.done("set", "userDefaults/theme", "dark")
        #expect(rename("\(home.path)/dots", "\(home.path)/away") == 0)
        for words in [["get", "userDefaults/theme"], ["set", "userDefaults/theme", "light"], ["config", "validate"]] {
            let ending = try home.run(words)
            #expect(ending.status != 0, "\(words)")
            #expect((ending.errors + ending.text).contains("'\(link)' is a link that leads nowhere"), "\(ending)")
        }
        #expect(rename("\(home.path)/away", "\(home.path)/dots") == 0)
        #expect(try home.done("get", "userDefaults/theme").text == "dark")
        try home.done("config", "set", "app.version", "2.0")
        let target = try Data(contentsOf: URL(filePath: "\(home.path)/dots/config.json"))
        #expect(String(decoding: target, as: UTF8.self).contains("2.0"))
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: link)) != nil)
    }
}

extension Home {
    fileprivate func run(_ words: [String]) throws -> Ending { try run(BuiltProducts.host, words) }
}
