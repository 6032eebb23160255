// A copy of Examples/CMigration/.gitignore, made by .ci/embed-templates.
// swift-format-ignore-file
extension EmbeddedText {
    static let cMigrationIgnored = #"""
libCMigration.so
test-cmigration

"""#
}
