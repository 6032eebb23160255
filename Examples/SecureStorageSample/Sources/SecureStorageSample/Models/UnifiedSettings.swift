/// The settings, which were three values once.
struct UnifiedSettings: Codable, Equatable {
    var notifications = false
    var autoBackup = false
    var theme = "system"
    var version = "2.0"
}
