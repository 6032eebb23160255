internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let initialize = Command(
        name: "init", summary: "write a configuration file with today's choices",
        details: """
            Writes the user's file, or the file that LOCALDATA_CONFIG or --config names. It states which store serves
            what today, so that a later default changes nothing. An existing file is left as it is.
            """
    ) { _, session in
        let (path, isNew) = try HostConfiguration.writeStarter(flags: session.flags)
        Output.line(path)
        if !isNew { Output.remark("ld-host: the file was there already and has not been touched") }
        return .done
    }
}
