internal import FoundationEssentials

/// A policy as written in a document: `"none"`, or an object that names the cipher or the keychain's conditions. Salts
/// and other parameters of a derivation belong to the key and are not written.
extension SecurityPolicy: Codable {
    private struct Form: Codable {
        var cipher: String?
        var derivation: String?
        var iterations: Int?
        var source: String?
        var accessibility: KeychainAccessibility?
        var accessControl: KeychainAccessControl?
    }

    /// Reads a policy; an unknown cipher or derivation is an error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            guard text == "none" else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no policy '\(text)'")
            }
            self = .none
            return
        }
        let form = try container.decode(Form.self)
        if let accessibility = form.accessibility {
            self = .keychain(accessibility: accessibility, accessControl: form.accessControl)
            return
        }
        let derivation: KeyDerivation =
            switch form.derivation {
            case "HKDF-SHA256", nil: .hkdf()
            case "PBKDF2-HMAC-SHA256": .pbkdf2(iterations: form.iterations)
            default: throw DecodingError.dataCorruptedError(in: container, debugDescription: "unknown derivation")
            }
        switch form.cipher {
        case "AES-256-GCM": self = .encrypted(.aes256(keyDerivation: derivation))
        case "ChaCha20-Poly1305":
            self = .encrypted(
                form.source.map { .external(source: KeyMaterialSource(id: $0), keyDerivation: derivation) }
                    ?? .chacha20Poly1305(keyDerivation: derivation))
        default: throw DecodingError.dataCorruptedError(in: container, debugDescription: "unknown cipher")
        }
    }

    /// Writes a policy.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        var form = Form()
        func add(_ derivation: KeyDerivation) {
            switch derivation {
            case .hkdf: form.derivation = "HKDF-SHA256"
            case .pbkdf2(let iterations, _):
                form.derivation = "PBKDF2-HMAC-SHA256"
                form.iterations = iterations
            }
        }
        switch self {
        case .none:
            try container.encode("none")
            return
        case .keychain(let accessibility, let control):
            form.accessibility = accessibility
            form.accessControl = control
        case .encrypted(.aes256(let derivation)):
            form.cipher = "AES-256-GCM"
            add(derivation)
        case .encrypted(.chacha20Poly1305(let derivation)):
            form.cipher = "ChaCha20-Poly1305"
            add(derivation)
        case .encrypted(.external(let source, let derivation)):
            form.cipher = "ChaCha20-Poly1305"
            form.source = source.id
            add(derivation)
        }
        try container.encode(form)
    }
}
