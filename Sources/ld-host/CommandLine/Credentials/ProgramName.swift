/// What the program was called as. Under the names by which git and Docker look for a credential helper, links to it
/// are those helpers.
enum ProgramName {
    private static let commands = [
        "git-credential-localdata": ["credential", "git"],
        DockerHelper.name: ["credential", "docker"],
    ]

    /// The words of a command line, with the command that the name stands for in front.
    static func words(_ words: [String]) -> [String] {
        // As whoever links to it has it; what it says decides nothing but this.
        guard let path = CommandLine.arguments.first else { return words }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        // Docker's helpers take these as actions, and this program would take them as options of its own.
        let isAction = name == DockerHelper.name && ["--version", "-v", "--help", "-h"].contains(words.first)
        return (commands[name] ?? []) + (isAction ? ["--"] : []) + words
    }
}
