internal import FoundationEssentials
internal import HostClients
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let pipe = Command(
        name: "pipe", summary: "serve another program over standard input and output",
        details: """
            Serves many calls in one process: frames of a JSON header and a value's bytes, each answered when it is
            done, until the input ends. Pipe.md in share/doc/localdata specifies them, and Examples/PythonKeyring has a
            client. Ends with status 2 if the input cannot be understood.
            """
    ) { _, session in
        try await PipeService(try session.router()).run(reading: Input.standard, writing: { Output.write($0) })
        return .done
    }
}
