package import LocalDataAPI

extension SecretStore: AttributedBackend {
    /// Reads the value too, because the size is that of the value, not of the text that encodes it.
    package func attributes(of key: SecretKey) throws -> ValueAttributes? {
        try perform("reading the attributes of '\(key.address)'") { service in
            guard let item = try find(key, service)?.item, let secret = try service.secret(of: item),
                let properties = try service.properties(of: [item]).first ?? nil
            else { return nil }
            var attributes = KeptAttributes.attributes(properties.attributes[ItemAttributes.kept])
            try read(secret, of: key, service) { attributes.size = UInt64($0.byteCount) }
            attributes.modified = Int64(clamping: min(properties.modified, 9_000_000_000)) * 1_000_000_000
            return attributes
        }
    }
}
