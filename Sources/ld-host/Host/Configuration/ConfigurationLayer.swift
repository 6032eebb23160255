/// One source of configuration values.
package struct ConfigurationLayer: Sendable {
    package let layer: ConfigurationOrigin.Layer
    /// The file's path or the flag's text; empty for defaults and code.
    package let source: String
    /// The values.
    package var value: JSONValue
    /// The file's text with the places of its values, for layers that are files.
    package let document: ConfigurationDocument?

    /// A layer of values that stand in no file.
    package init(_ layer: ConfigurationOrigin.Layer, source: String = "", value: JSONValue) {
        self.layer = layer
        self.source = source
        self.value = value
        document = nil
    }

    /// A file.
    package init(_ layer: ConfigurationOrigin.Layer, document: ConfigurationDocument) {
        self.layer = layer
        source = document.source
        value = document.value
        self.document = document
    }

    func origin(of path: [String]) -> ConfigurationOrigin {
        ConfigurationOrigin(layer: layer, source: source, line: document?.place(of: path)?.line)
    }
}
