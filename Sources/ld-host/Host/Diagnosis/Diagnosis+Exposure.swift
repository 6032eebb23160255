internal import LocalDataAPI

/// Whether other users can change the host's settings or data.
extension Diagnosis {
    /// The configuration files and the folders of data and state that users other than root and this one can write to.
    ///
    /// They are used all the same, since someone may share them on purpose.
    package static func exposure(
        of configuration: HostConfiguration, flags: HostConfiguration.Flags
    ) -> [ConfigurationProblem] {
        var places = HostConfiguration.files(flags: flags).filter(\.exists).map(\.path)
        if let folders = try? configuration.settings().folders { places += [folders.data, folders.state] }
        return exposure(of: places)
    }

    /// The same for given files and folders.
    package static func exposure(of places: [String]) -> [ConfigurationProblem] {
        var seen: Set<String> = []
        return places.compactMap { place in
            guard let weakness = FileTrust.weakness(of: place), seen.insert(weakness.path).inserted else { return nil }
            let origin = ConfigurationOrigin(layer: .default, source: PathText.shown(place), line: nil, column: nil)
            return ConfigurationProblem(path: [], origin: origin, message: weakness.finding, hint: weakness.hint)
        }
    }
}

extension Finding {
    /// A problem of the configuration.
    package init(_ problem: ConfigurationProblem) {
        self.init(problem.error.message, hint: problem.hint, isProblem: true)
    }
}
