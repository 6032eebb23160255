/// The settings, which used to be three values.
struct UnifiedSettings: Codable, Equatable {
    var notifications = false
    var autoBackup = false
    var theme = "system"
    var version = "2.0"
}
