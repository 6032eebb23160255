#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The identity that an app's data belongs to.
package enum AppIdentifier {
    private static let longest = 200

    /// What an identifier is, for hints.
    package static let rule = "1 to \(longest) letters, digits, '.', '-' and '_', not starting with '.'"

    /// Whether a text can identify an app or an app group.
    package static func isValid(_ text: String) -> Bool {
        (1...longest).contains(text.utf8.count) && text.utf8.allSatisfy(isUsable) && !text.hasPrefix(".")
    }

    /// The identifier of the program in a file: the file's name, with `_` for what no identifier has.
    ///
    /// - Parameter path: The file's path, or its name alone.
    package static func ofProgram(at path: String) -> String {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
        var bytes = name.prefix(longest).map { isUsable($0) ? $0 : UInt8(ascii: "_") }
        if bytes.first == UInt8(ascii: ".") { bytes[0] = UInt8(ascii: "_") }
        return bytes.isEmpty ? "_" : String(decoding: bytes, as: UTF8.self)
    }

    /// The identifier of the running program, which stays the same if its file is replaced or removed meanwhile.
    package static let ofThisProgram = ofProgram(at: executable ?? CommandLine.arguments.first ?? "")

    private static var executable: String? {
        let link = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer -> String? in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink("/proc/self/exe", start, buffer.count)
            guard count > 0 else { return nil }
            return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
        }
        return link.map(withoutRemark)
    }

    /// A path without what Linux appends to that of a file that is gone, as after an update of the running program.
    package static func withoutRemark(_ path: String) -> String {
        let remark = " (deleted)"
        return path.hasSuffix(remark) && access(path, F_OK) != 0 ? String(path.dropLast(remark.count)) : path
    }

    private static func isUsable(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
