/// What a step does to all keys that begin with a prefix.
enum ContainerShift: Hashable, Sendable {
    /// Moves every key that begins with a text.
    case prefix(String, to: String)
    /// Moves a key, and every key that begins with it and a dot.
    case branch(String, to: String)

    /// Where a key goes; `nil` if it stays.
    func destination(of name: String) -> String? {
        switch self {
        case .prefix(let old, let new): Self.replacing(old, with: new, in: name)
        case .branch(let old, let new): name == old ? new : Self.replacing("\(old).", with: "\(new).", in: name)
        }
    }

    /// Where a key comes from; `nil` if it does not come from another one.
    func source(of name: String) -> String? {
        switch self {
        case .prefix(let old, let new): Self.replacing(new, with: old, in: name)
        case .branch(let old, let new): name == new ? old : Self.replacing("\(new).", with: "\(old).", in: name)
        }
    }

    /// The text that the keys which it moves begin with.
    var oldPrefix: String {
        switch self {
        case .prefix(let old, _), .branch(let old, _): old
        }
    }

    private static func replacing(_ old: String, with new: String, in name: String) -> String? {
        guard name.utf8.starts(with: old.utf8) else { return nil }
        return new + String(decoding: name.utf8.dropFirst(old.utf8.count), as: UTF8.self)
    }
}

extension ContainerStep {
    /// What its declared changes do to prefixes, in their order.
    var shifts: [ContainerShift] {
        (changes ?? []).compactMap { change in
            if case .prefix(let old, let new) = change, !old.isEmpty { .prefix(old, to: new) } else { nil }
        }
    }
}
