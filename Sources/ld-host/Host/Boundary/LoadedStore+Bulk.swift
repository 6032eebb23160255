internal import CLocalData
internal import Glibc
package import LocalDataAPI

extension LoadedStore {
    /// A value as a store hands it out with many others; its bytes are lent for the call.
    package struct LentValue {
        /// The name in UTF-8.
        package let name: UnsafeRawBufferPointer
        /// `nil` for a value that is larger than what was asked for.
        package let value: UnsafeRawBufferPointer?
        /// Another one after each write of the value.
        package let mark: UInt64
        let attributes: UnsafePointer<ld_attributes>?

        /// What is kept beside the value.
        package func makeAttributes() -> ValueAttributes? { attributes.map { ValueAttributes($0) } }
    }

    /// What is kept beside values, size and time aside, one after the other: mostly it is the same.
    package struct RepeatedAttributes {
        private var texts = [RepeatedText](repeating: RepeatedText(), count: 5)
        private var isThere: Bool?

        package init() {}

        /// Takes what is kept beside the next value.
        ///
        /// - Returns: Whether it is other than what came last.
        package mutating func take(_ value: LentValue) -> Bool {
            var isNew = isThere != (value.attributes != nil)
            isThere = value.attributes != nil
            guard let given = value.attributes?.pointee else { return isNew }
            if texts[0].take(given.content_type.buffer) { isNew = true }
            if texts[1].take(given.serializer.buffer) { isNew = true }
            if texts[2].take(given.version_tag.buffer) { isNew = true }
            if texts[3].take(given.app_version.buffer) { isNew = true }
            if texts[4].take(given.owner.buffer) { isNew = true }
            return isNew
        }
    }

    /// Hands out values as ``BulkBackend`` promises, and stops at what no store may hand out.
    ///
    /// - Throws: `unsupported` if the store does not read many at once; `corrupt` for a name that is not UTF-8 or does not
    ///   start with the prefix.
    package func forEachValue(
        in place: StorageNamespace, prefix: String = "", after: String? = nil, largest: Int = .max,
        _ body: (LentValue) -> Bool
    ) throws(StorageError) {
        guard let bulk = abilities.bulk else { throw lacks("reading many values at once") }
        let outcome: Result<Bool, StorageError> = withoutActuallyEscaping(body) { body in
            var taker = ValueTaker(prefix: Array(prefix.utf8), body: body)
            return Result { () throws(StorageError) in
                try withUnsafeMutablePointer(to: &taker) { taker throws(StorageError) in
                    _ = try ReportSink.call { error in
                        place.withBoundary { place in
                            prefix.withBytes { prefix in
                                (after ?? "").withBytes { after in
                                    bulk.read(
                                        table.`self`, place, prefix, after, UInt64(largest), taker, takeLentValue, error
                                    )
                                }
                            }
                        }
                    }
                    return taker.pointee.isInvalid
                }
            }
        }
        guard try !outcome.get() else {
            throw StorageError(
                .corrupt,
                "the store gave a value in '\(place)' whose name is not UTF-8 or does not start with '\(prefix)'")
        }
    }

    /// Applies changes in order, all of them or none; a later one of a name wins.
    ///
    /// - Returns: The indices of changes that expect what is not so; if there are any, nothing has changed.
    /// - Throws: As ``apply(_:)``; `corrupt` for the index of no change.
    package func apply(_ changes: BulkChangeList) throws(StorageError) -> [Int] {
        guard let bulk = abilities.bulk else { throw lacks("changing many values at once") }
        try checkSize(changes.largestValue)
        var conflicts: [Int] = []
        do throws(StorageError) {
            let status = try passing { () throws(StorageError) in
                try ReportSink.call { error in
                    withUnsafeMutablePointer(to: &conflicts) { conflicts in
                        changes.withPointers {
                            bulk.apply(table.`self`, $0.baseAddress, $0.count, conflicts, takeConflict, error)
                        }
                    }
                }
            }
            guard status == LD_OK else { throw stopped("applying many changes") }
            guard conflicts.isEmpty else {
                throw StorageError(
                    .unknown,
                    "the store says that \(conflicts.count) changes expect what is not so, and that all were made",
                    hint: "report this to the plugin's author")
            }
            return []
        } catch {
            guard error.code == .busy, !conflicts.isEmpty else { throw error }
            if let odd = conflicts.first(where: { !(0..<changes.count).contains($0) }) {
                throw StorageError(
                    .corrupt, "the store says that change \(odd) of \(changes.count) expects what is not so",
                    hint: "report this to the plugin's author")
            }
            return conflicts
        }
    }
}

/// Hands on what a store hands out.
private struct ValueTaker {
    let prefix: [UInt8]
    let body: (LoadedStore.LentValue) -> Bool
    var isInvalid = false

    mutating func take(_ value: ld_bulk_value) -> Bool {
        let name = value.name.buffer
        guard let start = name.baseAddress, !name.isEmpty, name.count >= prefix.count,
            prefix.isEmpty || memcmp(start, prefix, prefix.count) == 0,
            (try? UTF8Span(validating: name.bindMemory(to: UInt8.self).span)) != nil
        else {
            isInvalid = true
            return false
        }
        return body(
            LoadedStore.LentValue(
                name: name, value: value.omitted == 0 ? value.value.buffer : nil, mark: value.mark,
                attributes: value.attributes))
    }
}

private func takeLentValue(context: UnsafeMutableRawPointer?, value: UnsafePointer<ld_bulk_value>?) -> Int32 {
    guard let context, let value, value.pointee.size >= MemoryLayout<ld_bulk_value>.size else { return 1 }
    return context.assumingMemoryBound(to: ValueTaker.self).pointee.take(value.pointee) ? 0 : 1
}

private func takeConflict(context: UnsafeMutableRawPointer?, index: Int) {
    context?.assumingMemoryBound(to: [Int].self).pointee.append(index)
}
