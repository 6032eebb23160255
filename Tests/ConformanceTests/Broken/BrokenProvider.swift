import Testing

/// A way in which `PluginFixtures/crypto/broken.c` breaks one promise of a crypto provider, and the check that must
/// find it. The provider is in C, because many of the faults are ones that a Swift type cannot make at the boundary.
struct BrokenProvider: Sendable, CustomTestStringConvertible {
    /// The check's id without `crypto.`.
    let check: String
    /// The value of the option `breaks`.
    let way: String
    let component: String

    var testDescription: String { "\(component) \(way) breaks \(check)" }

    private init(_ check: String, _ way: String, component: String = "provider") {
        self.check = check
        self.way = way
        self.component = component
    }

    static let all = [
        BrokenProvider("lifecycle.open", "never-opens"),
        BrokenProvider("lifecycle.options", "", component: "untidy"),
        BrokenProvider("lifecycle.again", "global"),
        BrokenProvider("declares.needed", "no-hkdf"),
        BrokenProvider("declares.sizes", "no-limit"),
        BrokenProvider("declares.signatures", "no-signatures"),
        BrokenProvider("vectors.aes-gcm", "aes-gcm"),
        BrokenProvider("vectors.chacha", "chacha"),
        BrokenProvider("vectors.xchacha", "xchacha"),
        BrokenProvider("vectors.hkdf", "hkdf"),
        BrokenProvider("vectors.pbkdf2", "pbkdf2"),
        BrokenProvider("vectors.hkdf-sha512", "hkdf-sha512"),
        BrokenProvider("vectors.pbkdf2-sha512", "pbkdf2-sha512"),
        BrokenProvider("vectors.argon2id", "argon2id"),
        BrokenProvider("vectors.x25519", "x25519"),
        BrokenProvider("vectors.ed25519", "ed25519"),
        BrokenProvider("cipher.roundtrip", "forgets-last"),
        BrokenProvider("cipher.differs", "nonce-ignored"),
        BrokenProvider("cipher.repeats", "counts"),
        BrokenProvider("threads.at-once", "shared-memory"),
        BrokenProvider("cipher.tag", "tag-bit"),
        BrokenProvider("cipher.altered", "data-cut"),
        BrokenProvider("cipher.zeros", "leaves-text"),
        BrokenProvider("cipher.one-text", "tells-size"),
        BrokenProvider("cipher.sizes", "nonce-cut"),
        BrokenProvider("cipher.sizes", "tag-cut"),
        BrokenProvider("cipher.goes-on", "goes-wrong"),
        BrokenProvider("boundary.outputs", "terminates"),
        BrokenProvider("boundary.reports", "loud-success"),
        BrokenProvider("boundary.unknown", "unknown-is-chacha"),
        BrokenProvider("boundary.abilities", "any-ability"),
        BrokenProvider("boundary.nothing", "null-refused"),
        BrokenProvider("derive.repeats", "counts-keys"),
        BrokenProvider("derive.differs", "info-cut"),
        BrokenProvider("derive.sizes", "any-size"),
        BrokenProvider("derive.no-work", "zero-is-one"),
        BrokenProvider("random.fills", "fills-256"),
        BrokenProvider("random.differs", "few-seeds"),
        BrokenProvider("random.even", "seven-bits"),
        BrokenProvider("random.fork", "seeded-once"),
        BrokenProvider("agree.both", "keeps-by-part"),
        BrokenProvider("agree.small-order", "zeros-agree"),
        BrokenProvider("agree.sizes", "key-cut"),
        BrokenProvider("sign.both", "keeps-signer"),
        BrokenProvider("sign.repeats", "counts-signatures"),
        BrokenProvider("sign.altered", "message-cut"),
        BrokenProvider("sign.strict", "lenient"),
        BrokenProvider("sign.one-text", "tells-message"),
        BrokenProvider("sign.sizes", "signing-key-cut"),
        BrokenProvider("sign.sizes", "signature-cut"),
        BrokenProvider("secrets.texts", "shows-key"),
        BrokenProvider("secrets.texts", "logs-text"),
    ]
}
