package import LocalDataAPI

/// A file on the search path, and the result of its inspection.
package struct PluginRecord: Sendable {
    /// The file.
    package let candidate: PluginSearchPath.Candidate
    /// Where it is, if nobody else can change it.
    let location: TrustedPath?
    /// The plugin's description of itself, or why it was refused.
    package let result: Result<PluginDescription, StorageError>

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
        var found: [(error: StorageError, others: Int)] = []
        for refusal in compactMap(\.refusal) {
            if let index = found.firstIndex(where: { !$0.error.hint.isEmpty && $0.error.hint == refusal.hint }) {
                found[index].others += 1
            } else {
                found.append((refusal, 0))
            }
        }
        return found.map { error, others in
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
    /// The ABI version that it was built for, e.g. `1.0`.
    package let abi: String
    package let components: [Component]
}
