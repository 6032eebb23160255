internal import LocalDataHost

extension Command {
    static let initialize = Command(
        name: "init", summary: "write a configuration file that says which store serves what",
        details: """
            Writes the user's file (or the one that LOCALDATA_CONFIG or --config names) with today's choices in it, so
            that they never change by themselves. A file that is there is left alone.
            """
    ) { _, session in
        let (path, isNew) = try HostConfiguration.writeStarter(flags: session.flags)
        Output.line(path)
        if !isNew { Output.remark("ld-host: the file was there already and has not been touched") }
        return .done
    }
}
