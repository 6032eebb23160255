internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    private struct Row: Encodable {
        let step: String
        let milliseconds: Double
        let problem: String?
        let hint: String?
    }

    static let storeTest = Command(
        name: "store test", operands: "STORE", count: 1...1, summary: "test that a store can be used",
        details: """
            STORE is the name of a store or the id of a component. Opens it as an app would, stores a value in a
            namespace of its own, reads and lists it, and removes it. Prints how long each step took, or why it failed.
            Ends with status 2 if a step failed.
            """,
        options: [json]
    ) { arguments, session in
        let steps = try await session.router().testStore(arguments.operands[0])
        if session.json {
            try Output.json(
                steps.map { step in
                    Row(
                        step: step.subject, milliseconds: step.milliseconds, problem: step.problem?.message,
                        hint: step.problem?.hint)
                })
        } else {
            for step in steps {
                let time = "\((step.milliseconds * 10).rounded() / 10) ms"
                Output.line(step.problem == nil ? "ok    \(step.subject) (\(time))" : "fail  \(step.subject)")
                if let problem = step.problem { Output.complain(problem) }
            }
        }
        return steps.contains { $0.problem != nil } ? .failure : .done
    }
}
