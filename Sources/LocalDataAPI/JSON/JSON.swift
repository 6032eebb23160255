/// A JSON value that loses nothing: numbers keep the text that they were written with, members their order, and each
/// value its place in the text that it was read from.
package struct JSON: Sendable {
    /// What a value is.
    package enum Content: Sendable {
        case null
        case bool(Bool)
        /// The text of a number, as the grammar has it.
        case number(String)
        case string(String)
        case array([JSON])
        case object(JSONObject)
    }

    package var content: Content
    /// The bytes of the value in its text, with its brackets or quotes; empty if it comes from no text.
    package internal(set) var range: Range<Int>
    /// The offset of the comma behind the value, if there is one.
    package internal(set) var comma: Int?

    /// A value that comes from no text.
    package init(_ content: Content) { self.init(content, 0..<0) }

    init(_ content: Content, _ range: Range<Int>) {
        self.content = content
        self.range = range
    }

    package static var null: JSON { JSON(.null) }
    package static func bool(_ value: Bool) -> JSON { JSON(.bool(value)) }
    package static func number(_ text: String) -> JSON { JSON(.number(text)) }
    package static func string(_ text: String) -> JSON { JSON(.string(text)) }
    package static func array(_ elements: [JSON]) -> JSON { JSON(.array(elements)) }
    package static func object(_ object: JSONObject) -> JSON { JSON(.object(object)) }

    /// What the value is, for messages, which never say the value: `a string`, `an object`.
    package var kind: String {
        switch content {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSON: Equatable {
    /// Texts are compared byte for byte, so that two spellings of one character are two texts. Where a value was read
    /// does not count.
    package static func == (left: JSON, right: JSON) -> Bool {
        switch (left.content, right.content) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)), (.string(let left), .string(let right)):
            left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

/// The members of a JSON object, in the order in which they were written. Names are told apart by their bytes.
package struct JSONObject: Sendable, Equatable {
    /// One member.
    package struct Member: Sendable {
        package let name: String
        /// The bytes of the name in its text, with its quotes; empty if it comes from no text.
        package let nameRange: Range<Int>
        package internal(set) var value: JSON

        package init(name: String, _ nameRange: Range<Int> = 0..<0, value: JSON) {
            self.name = name
            self.nameRange = nameRange
            self.value = value
        }
    }

    package internal(set) var members: [Member]

    /// Members whose names are known to differ.
    package init(members: [Member] = []) { self.members = members }

    /// The value of a member; set it to add, replace or, with `nil`, remove one.
    package subscript(name: String) -> JSON? {
        get { index(of: name).map { members[$0].value } }
        set {
            switch (index(of: name), newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// Where a member is in ``members``.
    package func index(of name: String) -> Int? { members.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } }

    /// Objects with the same members are the same, in whatever order.
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count && left.members.allSatisfy { right[$0.name] == $0.value }
    }
}
