internal import LocalDataAPI
internal import Synchronization

/// Which component of which plugin is called: what errors and the log name. One for each component, never freed, so
/// that a call needs no reference to it.
package final class ComponentIdentity: Sendable {
    /// The plugin's real path, or its name if it is linked in.
    package let plugin: String
    /// The component's id; empty for the plugin's own entry.
    package let component: String
    /// Its place in the list of all.
    let number: UInt
    private let log: Mutex<any StorageLogHandler>

    private init(_ plugin: String, _ component: String, _ number: UInt, _ log: any StorageLogHandler) {
        self.plugin = plugin
        self.component = component
        self.number = number
        self.log = Mutex(log)
    }

    private static let known = Mutex<[String: ComponentIdentity]>([:])
    private static let all = Mutex<[ComponentIdentity]>([])

    /// The identity of a component; `log` is where its late calls are reported from now on.
    static func of(_ plugin: String, _ component: String, log: any StorageLogHandler) -> ComponentIdentity {
        known.withLock { known in
            let name = "\(plugin)\u{0}\(component)"
            if let identity = known[name] {
                identity.log.withLock { $0 = log }
                return identity
            }
            let identity = all.withLock { all in
                let identity = ComponentIdentity(plugin, component, UInt(all.count + 1), log)
                all.append(identity)
                return identity
            }
            known[name] = identity
            return identity
        }
    }

    /// The component of a number; `nil` if no component has it.
    static func numbered(_ number: UInt) -> ComponentIdentity? {
        all.withLock { (1...UInt(max(1, $0.count))).contains(number) && !$0.isEmpty ? $0[Int(number) - 1] : nil }
    }

    /// A call of one of its functions.
    func site(_ function: StaticString) -> CallSite { CallSite(Unmanaged.passUnretained(self), function) }

    /// An error of this component's, which broke a rule of the boundary.
    func violation(
        _ function: String, _ what: String, code: StorageError.Code = .corrupt
    ) -> StorageError {
        StorageError(code, "\(self), in \(function): \(what)", hint: "report this to the plugin's author")
    }

    /// Logs that a sink was used when or where it must not be.
    func logMisuse(_ what: String) {
        log.withLock { $0 }.log(.error, label: "boundary", "\(self) \(what)")
    }
}

extension ComponentIdentity: CustomStringConvertible {
    package var description: String {
        component.isEmpty ? "plugin '\(plugin)'" : "the component '\(component)' of plugin '\(plugin)'"
    }
}
