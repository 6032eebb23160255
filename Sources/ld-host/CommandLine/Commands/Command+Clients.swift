internal import FoundationEssentials
internal import HostClients
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let credentialGit = Command(
        name: "credential git", operands: "ACTION", count: 1...1,
        summary: "keep git's passwords in the keychain",
        details: """
            A credential helper for git (gitcredentials(7)): ACTION is get, store or erase, and the request comes
            from standard input. Link git-credential-localdata to this program, and git uses it after:
              git config --global credential.helper localdata
            If several users have passwords for one location, the one stored last is returned. The service in the
            keychain is git:PROTOCOL://HOST, followed by /PATH if credential.useHttpPath is set, and the name is the
            user's. A request without a path also finds and erases what was stored with one, as with git's own
            helpers. Any other action is ignored, as git expects.
            """
    ) { arguments, session in
        let action = arguments.operands[0]
        guard ["get", "store", "erase"].contains(action) else { return .done }
        let request = try GitCredentialRequest(from: Input.standard)
        let store = GitCredentialStore(try session.router())
        switch action {
        case "get":
            if let answer = try await store.get(request) { Output.write(answer) }
        case "store": try await store.store(request)
        default: try await store.erase(request)
        }
        return .done
    }

    static let credentialDocker = Command(
        name: "credential docker", operands: "ACTION", count: 0...4096,
        summary: "keep Docker's passwords in the keychain",
        details: """
            A credential helper for Docker: ACTION is store, get, erase, list or version, and the request comes from
            standard input. Errors go to standard output, where Docker reads them, with exit status 1. Link
            docker-credential-localdata to this program, and set "credsStore": "localdata" in Docker's config.json.
            The service in the keychain is docker, and the name is the server's URL.
            """
    ) { arguments, session in
        guard arguments.operands.count == 1 else {
            Output.line(DockerHelper.usage)
            return .refused
        }
        do {
            Output.write(try await DockerHelper.perform(arguments.operands[0], session))
            return .done
        } catch {
            Output.line(DockerHelper.text(error))
            return .refused
        }
    }
}

extension Command {
    static let pipe = Command(
        name: "pipe", summary: "serve another program over standard input and output",
        details: """
            Serves many calls in one process: frames of a JSON header and a value's bytes, each answered when it is
            done, until the input ends. Pipe.md in share/doc/localdata specifies them, and Examples/PythonKeyring has a
            client. Ends with status 2 if the input cannot be understood.
            """
    ) { _, session in
        try await PipeService(try session.router(isLong: true)).run(
            reading: Input.standard, writing: { Output.write($0) })
        return .done
    }
}
