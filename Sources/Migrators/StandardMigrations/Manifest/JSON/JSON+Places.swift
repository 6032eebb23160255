internal import JSON

extension JSON {
    /// Where the value at a place begins in the text that it was read from, or the name of the member; of a place that
    /// is not there, the nearest value around it.
    func offset(of pointer: JSONPointer, isName: Bool) -> Int {
        guard let first = pointer.tokens.first else { return range.lowerBound }
        let rest = JSONPointer(tokens: Array(pointer.tokens.dropFirst()))
        switch content {
        case .object(let object):
            guard let index = object.index(of: first) else { return range.lowerBound }
            let member = object.members[index]
            return isName && rest.tokens.isEmpty
                ? member.nameRange.lowerBound : member.value.offset(of: rest, isName: isName)
        case .array(let elements):
            guard let index = JSONPointer.index(first, count: elements.count) else { return range.lowerBound }
            return elements[index].offset(of: rest, isName: isName)
        default: return range.lowerBound
        }
    }

    /// The value at a place, `nil` if absent.
    func value(at pointer: JSONPointer) -> JSON? {
        var value = self
        for token in pointer.tokens {
            switch value.content {
            case .object(let object):
                guard let member = object[token] else { return nil }
                value = member
            case .array(let elements):
                guard let index = JSONPointer.index(token, count: elements.count) else { return nil }
                value = elements[index]
            default: return nil
            }
        }
        return value
    }

    /// Takes the value at a place away; fine if absent. The whole becomes null.
    mutating func remove(at pointer: JSONPointer) {
        guard let last = pointer.tokens.last else { return self = .null }
        change(pointer.tokens.dropLast()[...]) { parent in
            switch parent.content {
            case .object(var object):
                object[last] = nil
                parent.content = .object(object)
            case .array(var elements):
                guard let index = JSONPointer.index(last, count: elements.count) else { return }
                elements.remove(at: index)
                parent.content = .array(elements)
            default: return
            }
        }
    }

    /// Puts a value at a place, in place of what is there. In a list it becomes the element of that number, and those
    /// from there on move up. Objects that are not there on the way are made.
    ///
    /// - Throws: `PlaceFault` if what is on the way is neither, or the list has no such place.
    mutating func insert(_ value: JSON, at pointer: JSONPointer) throws(PlaceFault) {
        try insert(value, pointer.tokens[...], JSONPointer(tokens: []))
    }

    private mutating func change(_ path: ArraySlice<String>, _ body: (inout JSON) -> Void) {
        guard let first = path.first else { return body(&self) }
        switch content {
        case .object(var object):
            guard var member = object[first] else { return }
            member.change(path.dropFirst(), body)
            object[first] = member
            content = .object(object)
        case .array(var elements):
            guard let index = JSONPointer.index(first, count: elements.count) else { return }
            elements[index].change(path.dropFirst(), body)
            content = .array(elements)
        default: return
        }
    }

    private mutating func insert(
        _ value: JSON, _ path: ArraySlice<String>, _ place: JSONPointer
    ) throws(PlaceFault) {
        guard let first = path.first else { return self = value }
        let rest = path.dropFirst()
        switch content {
        case .object(var object):
            var member = object[first] ?? .object(JSONObject())
            try member.insert(value, rest, place.appending(first))
            object[first] = member
            content = .object(object)
        case .array(var elements):
            if rest.isEmpty {
                guard let index = first == "-" ? elements.count : JSONPointer.index(first, count: elements.count + 1)
                else {
                    throw PlaceFault(
                        place: place, message: "is a list of \(elements.count), and has no place '\(first)'")
                }
                elements.insert(value, at: index)
            } else {
                guard let index = JSONPointer.index(first, count: elements.count) else {
                    throw PlaceFault(place: place, message: "is a list of \(elements.count), and has no '\(first)'")
                }
                try elements[index].insert(value, rest, place.appending(first))
            }
            content = .array(elements)
        default: throw PlaceFault(place: place, message: "is \(kind), expected an object or a list")
        }
    }
}

/// What is wrong at a place of a value. It quotes no value.
struct PlaceFault: Error {
    let place: JSONPointer
    let message: String

    /// The place and the message; the whole value has no pointer of its own.
    var text: String { place.tokens.isEmpty ? "the value \(message)" : "'\(place)' \(message)" }
}
