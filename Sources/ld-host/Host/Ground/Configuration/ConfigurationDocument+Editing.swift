internal import JSON
package import LocalDataAPI

extension ConfigurationDocument {
    /// The document with a value at a path, by the smallest edit of the text.
    ///
    /// A present value is replaced where it stands; a missing member is added behind the last one of the innermost
    /// object that exists, with the objects between. Comments, order, indentation, line breaks and the style of
    /// trailing commas and keys stay as they are.
    ///
    /// - Throws: `invalidConfiguration` if the path is empty or leads through something that is no object, if the
    ///   value cannot be written, or if the text would become too large or too deep.
    package func setting(_ value: JSONValue, at path: [String]) throws(StorageError) -> ConfigurationDocument {
        guard !path.isEmpty else {
            throw StorageError(.invalidConfiguration, "\(source): expected a key path, found an empty one")
        }
        let style = ConfigurationStyle(of: self)
        guard let root else { return try edited([try newRoot(value, at: path, style)]) }
        var object = root
        var depth = 0
        while depth < path.count, let member = object.member(path[depth]) {
            object = member.value
            depth += 1
        }
        if depth == path.count {
            let line = root.member(at: path).flatMap { indentation(before: $0.nameRange.lowerBound) }
            let text = try style.text(of: value, indentation: line ?? "", isInline: line == nil)
            return try edited([Edit(range: object.range, text: text)])
        }
        guard object.isObject else {
            let place = ConfigurationPath(Array(path[..<depth])).description
            let (line, column) = lines.place(of: object.range.lowerBound)
            let found = self.value[path[..<depth]]?.kind ?? "a value"
            throw StorageError(
                .invalidConfiguration, "\(source):\(line):\(column): \(place): expected an object, found \(found)",
                hint: object.isArray
                    ? "set the whole array" : "remove \(place) first, or choose a key beside it")
        }
        let nested = path[(depth + 1)...].reversed().reduce(value) { .object([$1: $0]) }
        return try edited(try insertion(of: nested, as: path[depth], in: object, isRoot: depth == 0, style))
    }

    /// The document without the member or element at a path, and without the comment behind it on its line.
    ///
    /// Comments on lines of their own stay. A path that does not exist changes nothing.
    package func removing(at path: [String]) throws(StorageError) -> ConfigurationDocument {
        guard let last = path.last, let root else { return self }
        let parent = path.count == 1 ? root : root.member(at: path.dropLast())?.value
        guard let parent, let member = parent.member(last),
            let index = parent.items.firstIndex(where: { $0.nameRange == member.nameRange })
        else { return self }
        var edits = [Edit(range: extent(of: member), text: "")]
        if member.value.comma == nil, index > 0, let comma = parent.items[index - 1].value.comma {
            edits.append(Edit(range: comma..<comma + 1, text: ""))
        }
        return try edited(edits)
    }

    /// Whether the object at a path is empty, without even a comment.
    func isEmptyObject(at path: some Collection<String>) -> Bool {
        guard let object = root?.member(at: path)?.value, object.isObject, object.items.isEmpty else {
            return false
        }
        return !bytes[object.range].contains(UInt8(ascii: "/"))
    }

    /// The white space in front of an offset, if nothing else stands before it on its line.
    func indentation(before offset: Int) -> String? {
        let lead = bytes[lines.lineStart(of: offset)..<offset]
        return lead.allSatisfy(Self.isBlank) ? String(decoding: lead, as: UTF8.self) : nil
    }
}

extension ConfigurationDocument {
    private struct Edit {
        var range: Range<Int>
        var text: String
    }

    private func newRoot(_ value: JSONValue, at path: [String], _ style: ConfigurationStyle) throws(StorageError)
        -> Edit
    {
        let nested = path.reversed().reduce(value) { .object([$1: $0]) }
        let text = try style.text(of: nested, indentation: "", isInline: false)
        let mark = bytes.starts(with: JSON.byteOrderMark) ? 3 : 0
        let endsLine = bytes.count == mark || bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r")
        return Edit(range: bytes.count..<bytes.count, text: (endsLine ? "" : style.newline) + text + style.newline)
    }

    private func insertion(
        of value: JSONValue, as key: String, in object: JSON, isRoot: Bool, _ style: ConfigurationStyle
    ) throws(StorageError) -> [Edit] {
        let name = try style.key(key)
        guard let last = object.items.last else {
            return [try firstMember(name, value, in: object, isRoot: isRoot, style)]
        }
        let behind = last.value.comma.map { $0 + 1 } ?? last.value.range.upperBound
        let (end, endsInLineComment) = endOfTrivia(from: behind, staysOnLine: true)
        let line = indentation(before: last.nameRange.lowerBound)
        let isInline = line == nil && !endsInLineComment
        let indent = line ?? lineIndentation(of: last.nameRange.lowerBound)
        let text = try style.text(of: value, indentation: indent, isInline: isInline)
        let lead = isInline ? " " : style.newline + indent
        let trail = last.value.comma == nil ? "" : ","
        let member = "\(lead)\(name): \(text)\(trail)"
        if last.value.comma != nil { return [Edit(range: end..<end, text: member)] }
        if end == behind { return [Edit(range: end..<end, text: "," + member)] }
        return [Edit(range: behind..<behind, text: ","), Edit(range: end..<end, text: member)]
    }

    private func firstMember(
        _ name: String, _ value: JSONValue, in object: JSON, isRoot: Bool, _ style: ConfigurationStyle
    ) throws(StorageError) -> Edit {
        let open = object.range.lowerBound + 1
        let close = object.range.upperBound - 1
        let (end, endsInLineComment) = endOfTrivia(from: open, staysOnLine: false)
        let isMultiline =
            isRoot || bytes[open..<close].contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        let outer = lineIndentation(of: object.range.lowerBound)
        let text = try style.text(of: value, indentation: outer + style.indent, isInline: !isMultiline)
        let lead = isMultiline || endsInLineComment ? style.newline + outer + style.indent : " "
        let trail = isMultiline ? style.newline + outer : " "
        return Edit(range: end..<close, text: "\(lead)\(name): \(text)\(trail)")
    }

    /// The end of the last comment from an offset on, or the offset itself if none follows; only comments that begin on
    /// the same line if `staysOnLine`.
    private func endOfTrivia(from offset: Int, staysOnLine: Bool) -> (end: Int, endsInLineComment: Bool) {
        var end = offset
        var next = offset
        var endsInLineComment = false
        while next < bytes.count {
            if bytes[next] == UInt8(ascii: "/") {
                endsInLineComment = bytes[next + 1] == UInt8(ascii: "/")
                var cursor = JSONCursor(bytes, from: next, isJSON5: true)
                try? cursor.skipComment()
                (next, end) = (cursor.position, cursor.position)
            } else if Self.isBlank(bytes[next]) || (!staysOnLine && (0x09...0x0D).contains(bytes[next])) {
                next += 1
            } else {
                break
            }
        }
        return (end, endsInLineComment)
    }

    /// What to cut out to remove a member: its whole lines if nothing else stands on them, else the member with its
    /// comma and the blanks on one side.
    private func extent(of member: JSONObject.Member) -> Range<Int> {
        var start = member.nameRange.lowerBound
        var end = member.value.comma.map { $0 + 1 } ?? member.value.range.upperBound
        if indentation(before: start) != nil {
            var (lineEnd, _) = endOfTrivia(from: end, staysOnLine: true)
            while lineEnd < bytes.count, Self.isBlank(bytes[lineEnd]) { lineEnd += 1 }
            if lineEnd < bytes.count, (0x0A...0x0D).contains(bytes[lineEnd]) {
                let isPair = bytes[lineEnd...].starts(with: "\r\n".utf8)
                return lines.lineStart(of: start)..<lineEnd + (isPair ? 2 : 1)
            }
        }
        if member.value.comma != nil {
            while end < bytes.count, Self.isBlank(bytes[end]) { end += 1 }
        } else {
            while start > 0, Self.isBlank(bytes[start - 1]) { start -= 1 }
        }
        return start..<end
    }

    private func lineIndentation(of offset: Int) -> String {
        let start = lines.lineStart(of: offset)
        return String(decoding: bytes[start..<offset].prefix(while: Self.isBlank), as: UTF8.self)
    }

    private func edited(_ edits: [Edit]) throws(StorageError) -> ConfigurationDocument {
        var bytes = bytes
        for edit in edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            bytes.replaceSubrange(edit.range, with: edit.text.utf8)
        }
        return try ConfigurationDocument(bytes: bytes, source: source)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
