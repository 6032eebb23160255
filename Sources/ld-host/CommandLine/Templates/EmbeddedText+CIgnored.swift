// A copy of Examples/CBackend/.gitignore, made by .ci/embed-templates.
// swift-format-ignore-file
extension EmbeddedText {
    static let cIgnored = #"""
libCBackend.so
test-cbackend

"""#
}
