/// What kind of device this is for ``PlatformAvailability``; on Linux the configuration's `device.role` says it.
public enum DeviceRole: String, Codable, CaseIterable, Hashable, Sendable {
    /// Neither phone nor watch: every key is available.
    case all
    /// A phone.
    case phone
    /// A watch.
    case watch
}
