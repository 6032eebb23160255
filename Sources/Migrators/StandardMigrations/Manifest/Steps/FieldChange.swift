internal import JSON
internal import LocalDataAPI

/// One change of a JSON value. What does not fit is an error that names the place; nothing is overwritten, and nothing
/// is dropped but by `drop`.
enum FieldChange: Sendable {
    /// Which kind of value a text, number or truth value becomes.
    enum Cast: String, Sendable, CaseIterable {
        case string, number, boolean
    }

    case move(from: JSONPointer, to: JSONPointer, isOptional: Bool)
    case copy(from: JSONPointer, to: JSONPointer, isOptional: Bool)
    case drop(JSONPointer, isOptional: Bool)
    /// Puts a constant where nothing is.
    case set(JSONPointer, JSON)
    /// The same, unless something is there.
    case fill(JSONPointer, JSON)
    case cast(JSONPointer, Cast, isOptional: Bool)

    func apply(to value: inout JSON) throws(PlaceFault) {
        switch self {
        case .move(let from, let to, let isOptional):
            guard let moved = try Self.find(from, in: value, isOptional) else { return }
            value.remove(at: from)
            try Self.put(moved, at: to, in: &value)
        case .copy(let from, let to, let isOptional):
            guard let copied = try Self.find(from, in: value, isOptional) else { return }
            try Self.put(copied, at: to, in: &value)
        case .drop(let place, let isOptional):
            guard try Self.find(place, in: value, isOptional) != nil else { return }
            value.remove(at: place)
        case .set(let place, let constant):
            if value.value(at: place) == constant { return }
            try Self.put(constant, at: place, in: &value)
        case .fill(let place, let constant):
            if value.value(at: place) != nil { return }
            try Self.put(constant, at: place, in: &value)
        case .cast(let place, let kind, let isOptional):
            guard let found = try Self.find(place, in: value, isOptional) else { return }
            let cast = try Self.cast(found, to: kind, at: place)
            try value.replace(cast, at: place)
        }
    }

    private static func find(
        _ place: JSONPointer, in value: JSON, _ isOptional: Bool
    ) throws(PlaceFault) -> JSON? {
        if let found = value.value(at: place) { return found }
        guard isOptional else { throw PlaceFault(place: place, message: "is missing, and is not 'optional'") }
        return nil
    }

    private static func put(_ new: JSON, at place: JSONPointer, in value: inout JSON) throws(PlaceFault) {
        // In a list, what is there moves up.
        if value.value(at: place) != nil, case .object? = value.value(at: place.parent)?.content {
            throw PlaceFault(place: place, message: "has a value already, which would be lost; drop or move it first")
        }
        try value.insert(new, at: place)
    }

    private static func cast(_ value: JSON, to kind: Cast, at place: JSONPointer) throws(PlaceFault) -> JSON {
        switch (value.content, kind) {
        case (.string, .string), (.number, .number), (.bool, .boolean): return value
        case (.number(let text), .string): return .string(text)
        case (.bool(let flag), .string): return .string(flag ? "true" : "false")
        case (.bool(let flag), .number): return .number(flag ? "1" : "0")
        case (.string(let text), .number) where JSON.isNumber(text): return .number(text)
        case (.string("true"), .boolean), (.number("1"), .boolean): return .bool(true)
        case (.string("false"), .boolean), (.number("0"), .boolean): return .bool(false)
        default:
            throw PlaceFault(place: place, message: "is \(value.kind) that does not say a \(kind.rawValue)")
        }
    }
}

extension JSON {
    /// Puts a value in the place of one that is there.
    fileprivate mutating func replace(_ value: JSON, at place: JSONPointer) throws(PlaceFault) {
        if case .array? = self.value(at: place.parent)?.content { remove(at: place) }
        try insert(value, at: place)
    }
}

/// Changes the members of a value, on its way to another key or in place.
struct FieldMapping: StepAction {
    let source: ManifestKey
    let destination: ManifestKey
    let from: ValueFormat
    let to: ValueFormat
    let changes: [FieldChange]

    var changesInPlace: Bool { source.isSame(as: destination) }
    var sources: [ManifestKey] { changesInPlace ? [] : [source] }
    var summary: String {
        "changes members of \(source.text)" + (changesInPlace ? "" : " and moves it to \(destination.text)")
    }

    func isNeeded(_ router: any StorageProviding) async throws -> Bool {
        try await router.exists(looked(at: source))
    }

    func run(_ router: any StorageProviding) async throws -> Int {
        var value = try from.read(try await data(of: source, router), at: source.text)
        for change in changes {
            do throws(PlaceFault) { try change.apply(to: &value) } catch {
                throw MigrationError(.transformationFailed, "'\(source.text)': \(error.text)")
            }
        }
        let data = try to.write(value, at: destination.text)
        if !changesInPlace { try await router.remove(source.key) }
        try await router.setData(data, for: destination.key)
        return 1
    }
}
