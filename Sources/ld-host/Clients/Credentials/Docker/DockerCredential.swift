internal import JSON
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
        var values: [String: SecretSlice] = [:]
        var cursor = JSONCursor(json, from: json.startIndex)
        do throws(JSONFault) {
            try cursor.skipSpace()
            guard var members = cursor.enter(object: true) else { throw cursor.fault(.object) }
            while try cursor.hasNext(in: &members) {
                guard cursor.isAt("\"") else { throw cursor.fault(.name) }
                let name = try cursor.secret().text?.lowercased() ?? ""
                try cursor.skipColon()
                if !["serverurl", "username", "secret"].contains(name) {
                    try cursor.skipValue(deepest: 64)
                } else if cursor.take(word: "null") {
                    values[name] = nil
                } else {
                    guard cursor.isAt("\"") else { throw cursor.fault(.string) }
                    values[name] = try cursor.secret()
                }
            }
            try cursor.end()
        } catch {
            throw StorageError(
                .deserializationFailed,
                "the credential is not the JSON that Docker sends: expected \(error.expected) at byte \(cursor.position)"
            )
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
