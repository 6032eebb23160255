/// The members of a JSON object, in the order in which they were written. Names are told apart by their bytes.
struct JSONObject: Sendable, Equatable {
    /// One member.
    struct Member: Sendable {
        let name: String
        var value: JSON
    }

    private(set) var members: [Member] = []

    init() {}

    /// Members whose names are known to differ.
    init(members: [Member]) { self.members = members }

    /// The value of a member; set it to add, replace or, with `nil`, remove one.
    subscript(name: String) -> JSON? {
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

    private func index(of name: String) -> Int? { members.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } }

    /// Objects with the same members are the same, in whatever order.
    static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count && left.members.allSatisfy { right[$0.name] == $0.value }
    }
}
