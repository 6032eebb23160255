#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Containers and their steps as a manifest, for `ld-host container diff`, `ld-host container check` and the pack of
/// standard migrations.
///
/// Keep the manifest of each release beside the code, and let a test write the current one:
///
/// ```swift
/// try ContainerManifest(of: [MySettings.self, CacheSettings.self]).encoded().write(to: file)
/// ```
public struct ContainerManifest: Sendable {
    private let chains: [ContainerChain]

    /// The manifest of containers, in their order.
    public init(of types: [any UserDefaultsContainer.Type]) { chains = types.map { Self.chain(of: $0) } }

    /// The manifest of containers without types.
    package init(_ chains: [ContainerChain]) { self.chains = chains }

    private static func chain<Container: UserDefaultsContainer>(of type: Container.Type) -> ContainerChain {
        ContainerChain(type.definition, type.steps)
    }

    /// The manifest as JSON, the same bytes for the same containers. A programmed step is in it as
    /// `"isProgrammed": true`.
    ///
    /// - Throws: `serializationFailed` if a default value cannot be JSON.
    public func encoded() throws(StorageError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let content: AnyCodable = ["containers": AnyCodable(chains.map(\.manifest))]
        do { return try encoder.encode(content) + Data("\n".utf8) } catch {
            throw StorageError(.serializationFailed, "the manifest of the containers cannot be encoded: \(error)")
        }
    }
}

extension ContainerChain {
    /// The container and its steps as a manifest has them.
    fileprivate var manifest: AnyCodable {
        var members: [String: AnyCodable] = [
            "name": AnyCodable(container.name), "domain": AnyCodable("\(container.store)"),
            "prefix": AnyCodable(container.prefix), "version": AnyCodable(container.version),
            "versionKey": AnyCodable(container.versionKey.name),
            "properties": AnyCodable(container.properties.map { $0.manifest(behind: container.prefix) }),
            "steps": AnyCodable(steps.map(\.manifest)),
        ]
        if container.baseline != 1 { members["baseline"] = AnyCodable(container.baseline) }
        let former = container.versionKey.formerly.map { AnyCodable($0.name) }
        if !former.isEmpty { members["formerVersionKeys"] = AnyCodable(former) }
        if !container.formerNames.isEmpty {
            members["formerNames"] = AnyCodable(container.formerNames.map { AnyCodable($0) })
        }
        if !container.otherKeys.isEmpty { members["otherKeys"] = AnyCodable(container.otherKeys.map(\.manifest)) }
        return AnyCodable(members)
    }
}

extension ContainerDefinition.Property {
    fileprivate func manifest(behind prefix: String) -> AnyCodable {
        var members: [String: AnyCodable] = ["name": AnyCodable(name), "type": AnyCodable(typeName)]
        if isExplicit {
            members["key"] = AnyCodable(String(decoding: key.utf8.dropFirst(prefix.utf8.count), as: UTF8.self))
        }
        if let defaultValue { members["default"] = defaultValue }
        return AnyCodable(members)
    }
}

extension ContainerStep {
    /// The step as a manifest has it.
    package var manifest: AnyCodable {
        var members: [String: AnyCodable] = ["from": AnyCodable(from), "to": AnyCodable(to)]
        if let prefix { members["prefix"] = AnyCodable(prefix) }
        if let name { members["name"] = AnyCodable(name) }
        if let changes {
            members["changes"] = AnyCodable(changes.map(\.manifest))
        } else {
            members["isProgrammed"] = true
        }
        return AnyCodable(members)
    }

    /// A step of an app's code as a manifest has it, which only the app can run.
    package static func programmed(from: Int, to: Int, prefix: String?, name: String?) -> ContainerStep {
        ContainerStep(from: from, to: to, prefix: prefix, name: name) { store in
            throw store.failure("is programmed in the app; only the app can run it")
        }
    }
}

extension ContainerEdit {
    fileprivate var manifest: AnyCodable {
        switch self {
        case .renames(let renames) where renames.count == 1: ["rename": renames[0].manifest]
        case .renames(let renames): ["renames": AnyCodable(renames.map(\.manifest))]
        case .prefix(let old, let new): ["prefix": ["from": AnyCodable(old), "to": AnyCodable(new)]]
        case .remove(let key): ["remove": key.manifest]
        case .setDefault(let key, let value): ["default": ["key": key.manifest, "value": value]]
        case .move(let from, let to): ["move": ["from": AnyCodable(from), "to": AnyCodable(to)]]
        }
    }
}

extension ContainerRename {
    fileprivate var manifest: AnyCodable { ["from": from.manifest, "to": to.manifest] }
}

extension ContainerKey {
    /// A stored key without a dot has to say that it is one.
    fileprivate var manifest: AnyCodable {
        self == ContainerKey(text) ? AnyCodable(text) : ["stored": AnyCodable(text)]
    }
}
