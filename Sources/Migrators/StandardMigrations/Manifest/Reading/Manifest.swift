internal import DurableFiles
internal import Glibc
internal import JSON
package import LocalDataAPI

/// A declarative list of migrations, checked as a whole before any of it runs.
package struct Manifest: Sendable {
    /// More steps than this are refused.
    static let mostSteps = 1000

    let steps: [Step]
    /// The containers, with their own steps.
    package let containers: [ContainerChain]

    /// Reads a manifest: a list of steps, or an object with `steps` and `containers`.
    ///
    /// - Parameter isComplete: Whether a container must have all steps to its version.
    /// - Throws: What is wrong with each step; if all are right, how they get in each other's way.
    init(_ value: JSON, complete isComplete: Bool = true) throws(ManifestFaults) {
        guard case .object = value.content else {
            try self.init(steps: value, in: nil, containers: [], complete: isComplete)
            return
        }
        let object = try ManifestObject(
            value, at: ManifestPlace(step: "the manifest"), members: ["steps", "containers"])
        guard object.has("steps") || object.has("containers") else {
            throw Self.fault(
                "a manifest of migrations is an empty object, expected a list of steps")
        }
        let containers = try object.list("containers", "a list of containers")
        try self.init(
            steps: object.value("steps") ?? .array([]), in: "steps", containers: containers, complete: isComplete)
    }

    private init(
        steps value: JSON, in list: String?, containers: [JSON], complete isComplete: Bool = true
    ) throws(ManifestFaults) {
        guard case .array(let elements) = value.content else {
            throw Self.fault(
                "a manifest of migrations is \(value.kind), expected a list of steps, or an object with 'steps' and "
                    + "'containers'")
        }
        guard elements.count <= Self.mostSteps else {
            throw Self.fault(
                "a manifest of migrations has \(elements.count) steps; expected at most \(Self.mostSteps)")
        }
        var faults = ManifestFaults()
        let steps = elements.enumerated().compactMap { index, element in
            faults.collect { () throws(ManifestFaults) in try Step(element, number: index + 1, in: list) }
        }
        let chains = containers.enumerated().compactMap { index, container in
            faults.collect { () throws(ManifestFaults) in
                try ContainerReader(container, number: index + 1, complete: isComplete).chain
            }
        }
        for (index, chain) in chains.enumerated() {
            let place = ManifestPlace(step: "container '\(chain.container.name)'", number: index + 1, in: "containers")
            guard let mistake = Self.mistake(in: chain, beside: chains[..<index]) else { continue }
            _ = faults.collect { () throws(ManifestFaults) in throw place.error(mistake) }
        }
        for step in steps { _ = faults.collect { () throws(ManifestFaults) in try step.validate() } }
        try faults.check()
        try ManifestOrder(steps).check()
        self.steps = steps
        let definitions = chains.map(\.container)
        self.containers = chains.enumerated().map { index, chain in
            chain.beside(definitions.enumerated().filter { $0.offset != index }.map(\.element))
        }
    }

    /// Why a container cannot be beside others.
    private static func mistake(in chain: ContainerChain, beside others: ArraySlice<ContainerChain>) -> String? {
        let container = chain.container
        if others.contains(where: { $0.idPrefix == chain.idPrefix }) {
            return "there are two containers with this name in '\(container.store)'"
        }
        let key = container.versionKey.name
        let other = others.first { $0.container.store == container.store && $0.container.versionKey.name == key }
        return other.map {
            "its version key, '\(key)', is also that of the container '\($0.container.name)'; give one of them another one"
        }
    }

    private static func fault(_ message: String) -> ManifestFaults {
        ManifestFaults(ManifestFaults.Fault(pointer: JSONPointer(tokens: []), message: message, hint: ""))
    }

    /// Reads a manifest that came with the configuration. Its numbers are those of the configuration: 64 bits.
    ///
    /// - Throws: `invalidOptions` with step and member of every mistake, or at most ten.
    package init(_ elements: [AnyCodable], containers: [AnyCodable] = []) throws(StorageError) {
        do throws(ManifestFaults) {
            try self.init(
                steps: .array(elements.map { JSON($0) }), in: nil, containers: containers.map { JSON($0) })
        } catch { throw error.error() }
    }

    /// No steps.
    package init() { (steps, containers) = ([], []) }

    /// The steps for single keys, and those of containers.
    package var migrations: [AnyStorageMigration] {
        steps.compactMap(\.migration) + containers.flatMap(\.dependentMigrations)
    }

    /// - Throws: `invalidOptions` with a container that has a step which only its app can run.
    package func requireDeclared() throws(StorageError) {
        for chain in containers {
            guard let step = chain.steps.first(where: { $0.changes == nil }) else { continue }
            throw StorageError(
                .invalidOptions,
                "container '\(chain.container.name)': the step \(step.from) -> \(step.to) is programmed in the app, so no "
                    + "pack can run it", hint: "declare its 'changes', or leave the container to the app")
        }
    }
    /// The steps for prefixes.
    package var bulkMigrations: [AnyBulkMigration] { steps.compactMap(\.bulkMigration) }
}

extension Step {
    /// Whether it may ever run.
    fileprivate func validate() throws(ManifestFaults) {
        do throws(MigrationError) {
            try migration?.validate()
            try bulkMigration?.validate()
        } catch { throw place.error(error.message) }
    }
}

extension JSON {
    /// A value whose numbers have been read before.
    init(_ value: AnyCodable) {
        switch value.content {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .int(let number): self = .number("\(number)")
        case .double(let number): self = .number("\(number)")
        case .string(let text): self = .string(text)
        case .array(let elements): self = .array(elements.map { JSON($0) })
        case .dictionary(let members):
            self = .object(
                JSONObject(
                    members: members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                        .map { JSONObject.Member(name: $0.key, value: JSON($0.value)) }))
        }
    }
}

extension Manifest {
    /// The most bytes that a file may have.
    static let largestFile = 1 << 20

    /// Reads a file: a regular one, not behind a link, that belongs to this user or root and that nobody else can
    /// write, as what it says moves and removes values. Its numbers keep every digit.
    ///
    /// - Throws: `invalidOptions` with file, line and column of every mistake, or at most ten; `permissionDenied` or
    ///   `fileError` naming the file.
    package init(file path: String) throws(StorageError) { try self.init(try Self.contents(of: path), of: path) }

    /// Reads the bytes of a file of any owner: for commands that look at a manifest and run nothing.
    ///
    /// - Parameter isComplete: Whether a container must have all steps to its version.
    package init(_ bytes: [UInt8], of path: String, complete isComplete: Bool = true) throws(StorageError) {
        let value: JSON
        // An editor may have put a mark before the text, which JSON5 allows, too.
        let bytes = bytes.starts(with: JSON.byteOrderMark) ? Array(bytes.dropFirst(JSON.byteOrderMark.count)) : bytes
        do throws(JSONFault) { value = try JSON.parse(bytes) } catch {
            let (line, column) = JSONFault.place(of: error.offset, in: bytes)
            throw StorageError(.invalidOptions, "\(path):\(line):\(column): \(error.message)")
        }
        do throws(ManifestFaults) { try self.init(value, complete: isComplete) } catch {
            throw error.error(in: path, bytes, value)
        }
    }

    private static func contents(of path: String) throws(StorageError) -> [UInt8] {
        let file = Ownership.openGiven(path)
        guard file >= 0 else { throw failure(path, "cannot be opened", errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure(path, "cannot be examined", errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(.invalidOptions, "the manifest '\(path)' is not a regular file")
        }
        guard Ownership.isTrusted(status, of: path, by: geteuid()) else {
            throw StorageError(
                .permissionDenied,
                "the manifest '\(path)' belongs to uid \(status.st_uid), expected uid \(geteuid()) or root",
                hint: "copy it to a file of your own")
        }
        guard Ownership.writers(status, besides: geteuid()) == (false, false) else {
            throw StorageError(
                .permissionDenied, "the manifest '\(path)' can be written by others than its owner",
                hint: "make sure that nobody else changed it, then "
                    + (Ownership.isOwn(status, of: geteuid())
                        ? "run: chmod go-w '\(path)'" : "copy it to a file of your own"))
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while bytes.count <= largestFile {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path, "cannot be read", errno) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
        throw StorageError(.invalidOptions, "the manifest '\(path)' has more than \(largestFile) bytes")
    }

    private static func failure(_ path: String, _ reason: String, _ number: Int32) -> StorageError {
        StorageError(
            number == EACCES || number == EPERM ? .permissionDenied : .fileError,
            "the manifest '\(path)' \(reason): \(String(cString: strerror(number)))",
            hint: number == ELOOP ? "name the file itself, or a link of your own or of root" : "")
    }
}
