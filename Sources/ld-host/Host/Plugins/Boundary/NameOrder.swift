internal import Glibc
internal import LocalDataAPI

/// Checks the names that a store lists: valid, within the prefix, and ascending by bytes, so that none repeats.
struct NameOrder {
    private let place: StorageNamespace
    private let prefix: [UInt8]
    private var last: [UInt8]

    init(in place: StorageNamespace, prefix: String, after: String?) {
        self.place = place
        self.prefix = Array(prefix.utf8)
        last = Array((after ?? "").utf8)
    }

    /// Checks the next name.
    ///
    /// - Returns: What is wrong with it, for errors; `nil` if it is fine.
    mutating func take(_ name: UnsafeRawBufferPointer) -> String? {
        guard let start = name.baseAddress, !name.isEmpty else { return "it passed an empty name in '\(place)'" }
        guard name.count <= StorageAddress.longestName else {
            return
                "it passed a name of \(name.count) bytes in '\(place)'; expected at most \(StorageAddress.longestName)"
        }
        guard memchr(start, 0, name.count) == nil else { return "it passed a name with a NUL byte in '\(place)'" }
        guard (try? UTF8Span(validating: name.bindMemory(to: UInt8.self).span)) != nil else {
            return "it passed a name in '\(place)' that is not UTF-8"
        }
        guard name.count >= prefix.count, prefix.isEmpty || memcmp(start, prefix, prefix.count) == 0 else {
            return
                "it passed a name in '\(place)' that does not start with '\(String(decoding: prefix, as: UTF8.self))'"
        }
        let order = memcmp(start, last, min(name.count, last.count))
        guard order > 0 || (order == 0 && name.count > last.count) else {
            let before = "'\(String(decoding: last, as: UTF8.self))'"
            return "it passed '\(String(decoding: name, as: UTF8.self))' in '\(place)', which does not follow \(before)"
        }
        last.removeAll(keepingCapacity: true)
        last.append(contentsOf: name)
        return nil
    }
}
