/// The members of a JSON object, in the order in which they were written. Names differ if their bytes do.
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
