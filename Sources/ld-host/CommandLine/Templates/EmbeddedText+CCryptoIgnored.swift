// A copy of Examples/CCrypto/.gitignore, made by .ci/embed-templates.
// swift-format-ignore-file
extension EmbeddedText {
    static let cCryptoIgnored = #"""
libCCrypto.so
test-ccrypto

"""#
}
