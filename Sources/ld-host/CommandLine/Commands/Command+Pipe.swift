internal import HostClients
internal import LocalDataHost

extension Command {
    static let pipe = Command(
        name: "pipe", summary: "serve requests of another program on standard input and output",
        details: """
            One process for many calls: frames of a JSON header and a value's bytes, answered as they are done, until
            the input ends. What they look like stands in LocalDataAPI.docc/Pipe.md, and Examples/PythonKeyring has a
            client. Ends with status 2 if the input cannot be understood.
            """
    ) { _, session in
        try await PipeService(try session.router()).run(reading: Input.standard, writing: { Output.write($0) })
        return .done
    }
}
