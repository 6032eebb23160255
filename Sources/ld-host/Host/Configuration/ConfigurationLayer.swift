/// One source of configuration values.
package struct ConfigurationLayer: Sendable {
    /// The kinds of layers, from the weakest to the strongest.
    package enum Name: String, Sendable, CaseIterable {
        /// Built in.
        case `default`
        /// The file of the machine.
        case system
        /// The file of the user.
        case user
        /// The file named by `LOCALDATA_CONFIG`.
        case environment
        /// The command line.
        case flag
        /// Calls of the app.
        case code
    }

    /// What kind of layer this is.
    package let name: Name
    /// The file's path, or a description.
    package let source: String
    /// What the layer says; an object.
    package let value: JSONValue
    /// The text behind the value; nil for layers that are no file.
    package let document: ConfigurationDocument?

    /// A layer from a file.
    package init(_ name: Name, _ document: ConfigurationDocument) {
        self.name = name
        self.source = document.source
        self.value = document.value
        self.document = document
    }

    /// A layer without a file, with a description in place of the path.
    package init(_ name: Name, source: String, value: JSONValue) {
        self.name = name
        self.source = source
        self.value = value
        self.document = nil
    }

    /// Where a path stands in this layer: its key, or the value if `ofValue`.
    package func origin(of path: [String], ofValue: Bool = false) -> ConfigurationOrigin {
        let place = ofValue ? document?.valuePlace(of: path) : document?.place(of: path)
        return ConfigurationOrigin(layer: name, source: source, line: place?.line, column: place?.column)
    }
}
