package import HostGround
package import LocalDataAPI

/// A file on the search path and the result of its inspection, or a plugin that is linked into this program.
package struct PluginRecord: Sendable {
    /// What a plugin's component comes before if it is offered more than once, from the least to the greatest.
    enum Standing: Int, Comparable {
        /// A file in one of the folders that every host searches.
        case found
        case linked
        /// What the program has registered itself.
        case registered
        /// A file that the configuration or the environment names, or its folder.
        case named

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The file.
    package let candidate: PluginSearchPath.Candidate
    /// Where it is, if nobody else can change it.
    let location: TrustedPath?
    /// The plugin's description of itself, or why it was refused.
    package let result: Result<PluginDescription, StorageError>
    let standing: Standing
    /// The plugin if it is not a file.
    let image: PluginImage?

    package init(
        candidate: PluginSearchPath.Candidate, location: TrustedPath?, result: Result<PluginDescription, StorageError>
    ) {
        self.candidate = candidate
        self.location = location
        self.result = result
        standing = candidate.isConfigured ? .named : .found
        image = nil
    }

    /// A plugin of this program.
    init(linked image: PluginImage, isRegistered: Bool) {
        candidate = PluginSearchPath.Candidate(
            path: image.path, origin: "linked into the program", isNamed: false, isConfigured: false)
        location = nil
        result = .success(image.description)
        standing = isRegistered ? .registered : .linked
        self.image = image
    }

    /// Whether the plugin is linked into this program, so that there is no file.
    package var isLinked: Bool { image != nil }

    /// The description, if the plugin was not refused.
    package var description: PluginDescription? { try? result.get() }

    /// The reason for the refusal, if it was refused.
    package var refusal: StorageError? {
        guard case .failure(let error) = result else { return nil }
        return error
    }
}

extension [PluginRecord] {
    /// Why plugins were refused; a reason that several share, such as a folder that others can write to, is listed
    /// once.
    package var refusals: [StorageError] {
        var found: [(error: StorageError, reason: String, others: Int)] = []
        for record in self {
            guard let refusal = record.refusal else { continue }
            // What is said of one file is the reason for another one if only the file differs.
            let reason = refusal.message.replacing(PathText.shown(record.candidate.path), with: "")
            if let index = found.firstIndex(where: { $0.reason == reason && $0.error.hint == refusal.hint }) {
                found[index].others += 1
            } else {
                found.append((refusal, reason, 0))
            }
        }
        return found.map { error, _, others in
            guard others > 0 else { return error }
            return StorageError(
                error.code, "\(error.message); the same goes for \(others) other plugin\(others == 1 ? "" : "s")",
                hint: error.hint)
        }
    }
}

/// A plugin's description of itself: the result of an inspection, and an entry of the index.
package struct PluginDescription: Codable, Hashable, Sendable {
    /// One component of a plugin.
    package struct Component: Codable, Hashable, Sendable {
        package let kind: Int32
        package let id: String
        package let summary: String
        package let options: [ComponentOption]

        /// The kind's name, even of an unknown kind.
        package var kindName: String { ComponentKind(rawValue: kind)?.description ?? "unknown kind \(kind)" }
    }

    package let name: String
    package let version: String
    /// The ABI version that it was built for, e.g. `1.1`.
    package let abi: String
    package let components: [Component]
}
