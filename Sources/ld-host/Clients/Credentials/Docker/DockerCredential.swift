package import LocalDataAPI
package import LocalDataHost

/// A credential as Docker hands it to a credential helper.
package struct DockerCredential: Sendable {
    package let serverURL: SecretSlice
    package let username: SecretSlice
    package let secret: SecretSlice

    /// Reads `{"ServerURL": "...", "Username": "...", "Secret": "..."}`. As with Docker's own helpers the case of the
    /// names does not matter, the last of several members of one name counts, `null` and a missing member are an empty
    /// text, and others are passed over.
    ///
    /// - Throws: `deserializationFailed` if it is no such JSON.
    package init(json: SecretSlice) throws(StorageError) {
        var scanner = SecretJSONScanner(json)
        var values: [String: SecretSlice] = [:]
        try scanner.members { (name, scanner) throws(StorageError) in
            let name = name.text?.lowercased() ?? ""
            guard ["serverurl", "username", "secret"].contains(name) else { return try scanner.skipValue() }
            values[name] = try scanner.stringOrNull()
        }
        let empty = SecretBuffer().slice
        serverURL = values["serverurl"] ?? empty
        username = values["username"] ?? empty
        secret = values["secret"] ?? empty
    }

    init(serverURL: SecretSlice, username: SecretSlice, secret: SecretSlice) {
        self.serverURL = serverURL
        self.username = username
        self.secret = secret
    }

    /// The same JSON on one line, as Docker's own helpers write it.
    package var json: SecretBuffer {
        let json = SecretBuffer()
        var separator = "{"
        for (name, value) in [("ServerURL", serverURL), ("Username", username), ("Secret", secret)] {
            json.append("\(separator)\"\(name)\":")
            json.append(jsonString: value)
            separator = ","
        }
        json.append("}\n")
        return json
    }
}
