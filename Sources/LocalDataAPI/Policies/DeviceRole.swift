/// The kind of device for ``PlatformAvailability``; on Linux, `device.role` in the configuration sets it.
public enum DeviceRole: String, Codable, CaseIterable, Hashable, Sendable {
    /// Neither phone nor watch: every key is available.
    case all
    /// A phone.
    case phone
    /// A watch.
    case watch
}
