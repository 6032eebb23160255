internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost
internal import MigrationManifest

extension Command {
    private static let manifests = """
        A manifest has the containers of one release as JSON. An app writes its own with
        ContainerManifest(of: [MySettings.self]).encoded().
        """

    static let containerDiff = Command(
        name: "container diff", operands: "OLD NEW", count: 2...2,
        summary: "print the steps that a new release's settings lack",
        details: """
            \(manifests) Prints the missing step of each container as its manifest has it, and the former version key that it
            has to name; nothing if nothing is missing. NEW may have the new version already. A setting that is gone and a new one of the same type with a
            similar name may be the same: such renames are suggestions to review, and standard error lists them. Nothing
            is stored or run.
            """
    ) { arguments, _ in
        let (old, new) = (try chains(arguments.operands[0]), try chains(arguments.operands[1], complete: false))
        let (pairs, gone) = ContainerComparison.all(old, new)
        let missing = pairs.filter { $0.missingStep != nil || $0.lostVersionKey != nil }
        for pair in missing {
            var members = ["name": AnyCodable(pair.new.container.name)]
            if let step = pair.missingStep { members["steps"] = [step.manifest] }
            if let lost = pair.lostVersionKey {
                let former = pair.new.container.versionKey.formerly.map(\.name) + [lost]
                members["formerVersionKeys"] = AnyCodable(former.map { AnyCodable($0) })
            }
            try Output.json(AnyCodable(members))
            // Where a step is there, it has answered them.
            guard pair.missingStep != nil else { continue }
            for question in pair.questions { Output.remark("ld-host: \(question)") }
        }
        for container in gone {
            Output.remark(
                "ld-host: the container '\(container.name)' is gone; if it was renamed, say so in formerNames, and move "
                    + "its values in a step")
        }
        if missing.isEmpty { Output.remark("ld-host: no step is missing") }
        return .done
    }

    static let containerCheck = Command(
        name: "container check", operands: "FILE", count: 1...1,
        summary: "check the settings of a release against their steps",
        details: """
            \(manifests) Finds missing steps, steps that lead nowhere or to a key that no setting has, keys that two settings have, and
            reserved names.
            With --against, also finds keys that have changed without a step or a version, and released steps that were
            changed. Ends with status 2 if there are problems; each is a sentence of its own.
            """,
        options: [Option(name: "--against", value: "FILE", help: "compare with the manifest of the last release")]
    ) { arguments, _ in
        let new: [ContainerChain]
        do throws(StorageError) { new = try chains(arguments.operands[0]) } catch {
            guard error.code == .invalidOptions else { throw error }
            for line in error.message.split(separator: "\n") {
                Output.sentence("\(Printable(String(line)))", indent: 4)
            }
            return .failure
        }
        var problems: [String] = []
        if let file = arguments.value("--against") {
            let (pairs, gone) = ContainerComparison.all(try chains(file), new)
            problems = pairs.flatMap(\.problems)
            problems += gone.map {
                "the container '\($0.name)' was released, and is gone; keep it, or name it in the formerNames of another one"
            }
        }
        for problem in problems { Output.sentence("\(Printable(problem))", indent: 4) }
        if problems.isEmpty { Output.remark("ld-host: the containers are valid") }
        return problems.isEmpty ? .done : .failure
    }

    private static func chains(
        _ path: String, complete isComplete: Bool = true
    ) throws(StorageError) -> [ContainerChain] {
        let data: Data
        do { data = try Data(contentsOf: URL(filePath: path)) } catch {
            throw StorageError(
                .fileError, "the manifest '\(path)' cannot be read", hint: "name a file that you may read")
        }
        return try Manifest([UInt8](data), of: path, complete: isComplete).containers
    }
}
