/// The secret service on one link, for one call of the store: org.freedesktop.Secret, version 0.2.
///
/// Every call throws ``BusFailure``, or ``Locked`` for an object that must be unlocked first.
struct Service {
    static let path = "/org/freedesktop/secrets"
    static let interface = "org.freedesktop.Secret.Service"
    static let collectionInterface = "org.freedesktop.Secret.Collection"
    static let itemInterface = "org.freedesktop.Secret.Item"

    /// Whether a call was made whose effect is unknown if it has no answer.
    final class Effects {
        var mayHaveChanged = false
    }

    let link: ServiceLink
    let deadline: BusDeadline
    let effects = Effects()

    /// The session in which secrets cross the bus; waits for it.
    var session: SecretSession { get throws(BusFailure) { try link.session(until: deadline) } }

    func call(_ method: BusMethod) throws -> Variant {
        do throws(BusFailure) { return try link.call(method, until: deadline) } catch {
            if error.isLocked { throw Locked(path: method.path) }
            throw error
        }
    }

    /// Makes a call with an effect.
    private func change(_ method: BusMethod) throws -> Variant {
        effects.mayHaveChanged = true
        return try call(method)
    }

    /// The items of a collection with these attributes, in the service's order; `nil` if the collection does not exist.
    /// Never asks for a password.
    func items(with attributes: [String: String], in collection: String) throws -> [String]? {
        try orMissing {
            try call(
                BusMethod(
                    collection, Self.collectionInterface, "SearchItems", .tuple(.texts(attributes)), answer: "(ao)")
            )[0]?.paths ?? []
        }
    }

    /// The items of all collections with these attributes, locked ones too. Never asks for a password.
    func items(with attributes: [String: String]) throws -> [String] {
        let answer = try call(
            BusMethod(Self.path, Self.interface, "SearchItems", .tuple(.texts(attributes)), answer: "(aoao)"))
        return (answer[0]?.paths ?? []) + (answer[1]?.paths ?? [])
    }

    /// The label of the collection that has an item; its path if it has none, and `nil` for a removed item.
    func label(ofCollectionOf item: String) throws -> String? {
        try orMissing {
            _ = try call(.property("Attributes", of: item, Self.itemInterface))
            let collection = String(item[..<(item.lastIndex(of: "/") ?? item.endIndex)])
            let label = try call(.property("Label", of: collection, Self.collectionInterface))[0]?[0]?.text
            return label.flatMap { $0.isEmpty ? nil : $0 } ?? collection
        }
    }

    /// The properties of items, in the same order; `nil` for a removed item.
    func properties(of items: [String]) throws -> [ItemProperties?] {
        let methods = items.map { BusMethod.properties(of: $0, Self.itemInterface) }
        return try answers(methods).map { answer in
            answer?[0]?.properties.map { ItemProperties($0) }
        }
    }

    /// The attributes of items, in the same order; `nil` for a removed item.
    func attributes(of items: [String]) throws -> [[String: String]?] {
        let methods = items.map { BusMethod.property("Attributes", of: $0, Self.itemInterface) }
        return try answers(methods).map { $0?[0]?[0]?.texts }
    }

    /// Whether a collection is locked.
    func isLocked(_ collection: String) throws -> Bool {
        try call(.property("Locked", of: collection, Self.collectionInterface))[0]?[0]?.boolean ?? false
    }

    /// All items of a collection that the service reveals.
    func items(in collection: String) throws -> [String] {
        try call(.property("Items", of: collection, Self.collectionInterface))[0]?[0]?.paths ?? []
    }

    /// An item's secret, as it crosses the bus.
    func secret(of item: String) throws -> Variant? {
        let session = try session
        return try call(
            BusMethod(item, Self.itemInterface, "GetSecret", .tuple(.path(session.path)), answer: "((oayays))"))[0]
    }

    /// Replaces only an item's secret.
    func setSecret(of item: String, to secret: Variant) throws {
        _ = try change(BusMethod(item, Self.itemInterface, "SetSecret", .tuple(secret), answer: "()"))
    }

    /// Replaces an item's attributes.
    func setAttributes(of item: String, to attributes: [String: String]) throws {
        _ = try change(.set("Attributes", of: item, Self.itemInterface, to: .texts(attributes)))
    }

    /// Deletes an item; returns the path of the prompt that must be answered first, if there is one.
    func delete(_ item: String) throws -> String? {
        prompt(try change(BusMethod(item, Self.itemInterface, "Delete", answer: "(o)"))[0])
    }

    /// Creates an item, or replaces one that has all of these attributes.
    func make(_ label: String, _ attributes: [String: String], _ secret: Variant, in collection: String) throws
        -> String?
    {
        let properties = Variant.properties([
            "\(Self.itemInterface).Label": .string(label), "\(Self.itemInterface).Attributes": .texts(attributes),
        ])
        let answer = try change(
            BusMethod(
                collection, Self.collectionInterface, "CreateItem", .tuple(properties, secret, .boolean(true)),
                answer: "(oo)"))
        return prompt(answer[1])
    }

    /// The prompt's path in an answer, unless there is no prompt.
    func prompt(_ answer: Variant?) -> String? { answer?.text.flatMap { $0 == "/" ? nil : $0 } }

    /// The result of a call, or `nil` if its object does not exist.
    func orMissing<Result>(_ body: () throws -> Result) throws -> Result? {
        do { return try body() } catch let failure as BusFailure where failure.isMissingObject { return nil }
    }

    private func answers(_ methods: [BusMethod]) throws -> [Variant?] {
        try zip(methods, link.call(all: methods, until: deadline)).map { method, result in
            switch result {
            case .success(let answer): return answer
            case .failure(let failure) where failure.isMissingObject: return nil
            case .failure(let failure) where failure.isLocked: throw Locked(path: method.path)
            case .failure(let failure): throw failure
            }
        }
    }
}

extension Service {
    /// The path of a collection, or `nil` if absent. The path of a predefined collection is an alias, which may
    /// have no target.
    func path(of collection: CollectionName) throws -> String? {
        guard case .labelled(let label) = collection else { return collection.alias }
        if let known = link.path(ofCollection: label) { return known }
        let paths = try call(.property("Collections", of: Self.path, Self.interface))[0]?[0]?.paths ?? []
        let labels = link.call(
            all: paths.map { .property("Label", of: $0, Self.collectionInterface) }, until: deadline)
        // Of two with the same label, the paths decide, so that all processes use the same one.
        let matches = zip(paths, labels).filter { (try? $1.get())?[0]?[0]?.text == label }.map(\.0)
        guard let path = matches.min() else { return nil }
        link.keep(path, ofCollection: label)
        return path
    }

    /// Requests a new collection; returns its path, or that of a prompt.
    func make(_ collection: CollectionName) throws -> (path: String?, prompt: String?) {
        let label =
            if case .labelled(let label) = collection { label } else { "Default keyring" }
        let alias = if case .standard = collection { "default" } else { "" }
        let properties = Variant.properties(["\(Self.collectionInterface).Label": .string(label)])
        let answer = try call(
            BusMethod(
                Self.path, Self.interface, "CreateCollection", .tuple(properties, .string(alias)), answer: "(oo)"))
        return (prompt(answer[0]), prompt(answer[1]))
    }

    /// Requests to unlock an object; returns the path of a prompt, or `nil` if none is needed.
    ///
    /// - Throws: ``Locked`` if the service neither unlocks it nor prompts.
    func unlock(_ path: String) throws -> String? {
        let answer = try call(
            BusMethod(Self.path, Self.interface, "Unlock", .tuple(.paths([try target(path)])), answer: "(aoo)"))
        if let prompt = prompt(answer[1]) { return prompt }
        guard answer[0]?.paths?.isEmpty == false else { throw Locked(path: path) }
        return nil
    }

    /// The target of an alias: some services unlock nothing else.
    private func target(_ path: String) throws -> String {
        let aliases = "\(Self.path)/aliases/"
        guard path.hasPrefix(aliases) else { return path }
        let name = String(path.dropFirst(aliases.count))
        let answer = try call(
            BusMethod(Self.path, Self.interface, "ReadAlias", .tuple(.string(name)), answer: "(o)"))
        return prompt(answer[0]) ?? path
    }
}

/// An item's properties, without its secret.
struct ItemProperties {
    let attributes: [String: String]
    /// Seconds since 1970 UTC.
    let modified: UInt64

    init(_ properties: [String: Variant]) {
        attributes = properties["Attributes"]?.texts ?? [:]
        modified = properties["Modified"]?.number ?? 0
    }
}

/// A call failed because this object is locked.
struct Locked: Error {
    let path: String
}
