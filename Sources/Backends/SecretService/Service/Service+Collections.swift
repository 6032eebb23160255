extension Service {
    /// The path of a collection, or `nil` if there is none. The path of a predefined collection is an alias, which may
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
