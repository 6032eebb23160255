package import FoundationEssentials
import Glibc
package final class DurableDirectory: Sendable {
    let path: String
    package init(path: String) throws {
        self.path = path; try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    package func replace(_ name: String, with data: Data) throws {
        try data.write(to: URL(filePath: path + "/" + name), options: .atomic)
    }
}
