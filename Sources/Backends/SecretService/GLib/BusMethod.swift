/// A D-Bus call.
struct BusMethod: Sendable {
    let path: String
    let interface: String
    let name: String
    let arguments: Variant?
    /// The signature of the answer; any other is an error.
    let answer: String

    init(_ path: String, _ interface: String, _ name: String, _ arguments: Variant? = nil, answer: String) {
        self.path = path
        self.interface = interface
        self.name = name
        self.arguments = arguments
        self.answer = answer
    }

    /// Reads a property.
    static func property(_ name: String, of path: String, _ interface: String) -> BusMethod {
        BusMethod(
            path, "org.freedesktop.DBus.Properties", "Get", .tuple(.string(interface), .string(name)), answer: "(v)")
    }

    /// Reads all properties.
    static func properties(of path: String, _ interface: String) -> BusMethod {
        BusMethod(path, "org.freedesktop.DBus.Properties", "GetAll", .tuple(.string(interface)), answer: "(a{sv})")
    }

    /// Changes a property.
    static func set(_ name: String, of path: String, _ interface: String, to value: Variant) -> BusMethod {
        BusMethod(
            path, "org.freedesktop.DBus.Properties", "Set",
            .tuple(.string(interface), .string(name), .boxed(value)), answer: "()")
    }
}
