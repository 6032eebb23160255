internal import LocalDataAPI

extension ConfigurationSchema {
    /// Everything that is wrong with a document, in the order of the text.
    ///
    /// What a document lacks is not wrong: another layer may have it. `validate(_: LayeredConfiguration)` checks that.
    package func validate(
        _ document: ConfigurationDocument, as layer: ConfigurationLayer.Name = .user
    ) -> [ConfigurationProblem] {
        validate(ConfigurationLayer(layer, document))
    }

    /// Everything that is wrong with a layer, in the order of its text.
    package func validate(_ layer: ConfigurationLayer) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        checkMembers(of: layer.value, at: [], in: layer, &problems)
        return problems.sorted { left, right in
            let leftPlace = (left.origin.line ?? 0, left.origin.column ?? 0)
            let rightPlace = (right.origin.line ?? 0, right.origin.column ?? 0)
            if leftPlace != rightPlace { return leftPlace < rightPlace }
            return left.path.lexicographicallyPrecedes(right.path)
        }
    }

    /// Everything that is wrong with all layers, from the weakest on, and then what is missing in the result.
    package func validate(_ configuration: LayeredConfiguration) -> [ConfigurationProblem] {
        var problems = configuration.layers.flatMap(validate)
        for rule in rules where rule.isRequired {
            for path in configuration.paths(matching: rule.pattern.dropLast()) {
                let required = path + [rule.pattern[rule.pattern.count - 1]]
                guard configuration.value(at: required) == nil, let (value, origin) = configuration.value(at: path),
                    case .object = value
                else { continue }
                problems.append(
                    ConfigurationProblem(
                        path: required, origin: origin, message: "expected \(rule.kind.expected), found nothing",
                        hint: "add it: \(rule.help)"))
            }
        }
        return problems
    }

    private func checkMembers(
        of value: JSONValue, at path: [String], in layer: ConfigurationLayer, _ problems: inout [ConfigurationProblem]
    ) {
        guard case .object(let members) = value else { return }
        let rules = members.isEmpty ? [] : self.members(of: path)
        for (key, member) in members {
            let memberPath = path + [key]
            guard let rule = rules.first(where: { $0.matches(memberPath) }) else {
                problems.append(unknown(key, at: memberPath, among: rules, in: layer))
                continue
            }
            if rule.pattern.last.map(ConfigurationRule.isPlaceholder) == true,
                let problem = nameProblem(key, at: memberPath, rule, in: layer)
            {
                problems.append(problem)
            }
            if let fault = rule.kind.fault(in: member) {
                problems.append(wrong(fault, at: memberPath, rule, member, in: layer))
            } else if rule.kind.hasMembers {
                checkMembers(of: member, at: memberPath, in: layer, &problems)
            }
        }
    }

    private func unknown(
        _ key: String, at path: [String], among rules: [ConfigurationRule], in layer: ConfigurationLayer
    ) -> ConfigurationProblem {
        let known = rules.compactMap(\.pattern.last)
        let nearest = EditDistance.nearest(to: key, in: known, within: max(2, key.count / 3))
        return ConfigurationProblem(
            path: path, origin: layer.origin(of: path), message: "unknown key",
            hint: nearest.map { "did you mean \($0)" } ?? "known here: \(known.joined(separator: ", "))")
    }

    private func nameProblem(
        _ key: String, at path: [String], _ rule: ConfigurationRule, in layer: ConfigurationLayer
    ) -> ConfigurationProblem? {
        let origin = layer.origin(of: path)
        if !ConfigurationName.isValid(key) {
            return ConfigurationProblem(
                path: path, origin: origin, message: "the name is not usable",
                hint: "expected \(ConfigurationName.rule)")
        }
        if rule.pattern.last == "<domain>", key.lowercased().hasPrefix(HostSettings.reservedDomains) {
            return ConfigurationProblem(
                path: path, origin: origin, message: "the host keeps its own keys in such domains",
                hint: "use a name that does not start with '\(HostSettings.reservedDomains)'")
        }
        guard rule.pattern.last == "<domain>", let known = ConfigurationName.mistypedDomain(key) else { return nil }
        return ConfigurationProblem(
            path: path, origin: origin, message: "unknown domain",
            hint: "did you mean \(known); a domain of your own needs a name less alike")
    }

    private func wrong(
        _ fault: (path: [String], expected: String, found: String), at path: [String], _ rule: ConfigurationRule,
        _ value: JSONValue,
        in layer: ConfigurationLayer
    ) -> ConfigurationProblem {
        var hint = ""
        if case .choice(let words) = rule.kind, case .string(let word) = value {
            hint = EditDistance.nearest(to: word, in: words, within: 2).map { "did you mean \"\($0)\"" } ?? ""
        } else if rule.pattern.last == "<domain>", case .object(let members) = value, let inner = members.keys.min() {
            let whole = ConfigurationPath(path.dropLast() + ["\(path[path.count - 1]).\(inner)"])
            hint = "a domain with a dot in its name stands in quotes: \(whole)"
        }
        let place = path + fault.path
        return ConfigurationProblem(
            path: place, origin: layer.origin(of: place, ofValue: true),
            message: "expected \(fault.expected), found \(fault.found)", hint: hint)
    }
}
