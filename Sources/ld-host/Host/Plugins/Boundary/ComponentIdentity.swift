internal import Glibc
internal import HostGround
internal import LocalDataAPI
internal import Synchronization

/// The component and plugin of a call, for errors and the log. There is one per component, never freed, so that a call
/// needs no reference to it.
package final class ComponentIdentity: Sendable {
    /// The plugin's real path, or its name if it is linked in.
    package let plugin: String
    /// The component's id; empty for the plugin's own entry.
    package let component: String
    /// Its index in the list of all identities.
    let number: UInt
    private let log: Mutex<any StorageLogHandler>
    private let local = Atomic<Bool>(false)

    private init(_ plugin: String, _ component: String, _ number: UInt, _ log: any StorageLogHandler) {
        self.plugin = plugin
        self.component = component
        self.number = number
        self.log = Mutex(log)
        if number < Self.mostNumbers {
            Self.texts[Int(number)] = UnsafePointer(strdup(PrintableText.escaped(Self.description(plugin, component))))
        }
    }

    private static let known = Mutex<[String: ComponentIdentity]>([:])
    private static let all = Mutex<[ComponentIdentity]>([])

    /// The identity of a component; from now on its late calls are reported to `log`.
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

    /// The component with this number; `nil` if absent.
    static func numbered(_ number: UInt) -> ComponentIdentity? {
        all.withLock { (1...UInt(max(1, $0.count))).contains(number) && !$0.isEmpty ? $0[Int(number) - 1] : nil }
    }

    /// Names a component as its description does, for the handler of a signal: takes no lock and no memory. `nil` if
    /// there is no such number.
    static func text(ofNumber number: UInt) -> UnsafePointer<CChar>? {
        number < mostNumbers ? texts[Int(number)] : nil
    }

    private static let mostNumbers = UInt(1) << 14
    nonisolated(unsafe) private static let texts: UnsafeMutablePointer<UnsafePointer<CChar>?> = {
        let texts = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: Int(mostNumbers))
        texts.initialize(repeating: nil, count: Int(mostNumbers))
        return texts
    }()

    /// A call of one of its functions.
    func site(_ function: StaticString) -> CallSite { CallSite(Unmanaged.passUnretained(self), function) }

    /// An error of this component for breaking a rule of the boundary.
    func violation(
        _ function: String, _ what: String, code: StorageError.Code = .corrupt
    ) -> StorageError {
        StorageError(code, "\(self), in \(function): \(what)", hint: "report this to the plugin's author")
    }

    /// Whether it is a store of this machine, whose calls wait for nobody.
    var isLocal: Bool {
        get { local.load(ordering: .relaxed) }
        set { local.store(newValue, ordering: .relaxed) }
    }

    /// Logs that a sink was used at a wrong time or on a wrong thread.
    func logMisuse(_ what: String) {
        log.withLock { $0 }.log(.error, label: "boundary", "\(self) \(what)")
    }
}

extension ComponentIdentity: CustomStringConvertible {
    package var description: String { Self.description(plugin, component) }

    private static func description(_ plugin: String, _ component: String) -> String {
        component.isEmpty ? "plugin '\(plugin)'" : "the component '\(component)' of plugin '\(plugin)'"
    }
}
