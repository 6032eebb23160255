package import FoundationEssentials

/// A context as JSON; see `should_migrate` in the header.
private struct ContextForm: Codable {
    struct Device: Codable {
        let platform: String
        let role: DeviceRole
        let systemVersion: String
        let model: String
    }

    struct System: Codable {
        let availableDiskSpace: UInt64
        let availableMemory: UInt64
        let isLowPowerModeEnabled: Bool?
    }

    let appVersion: String?
    let dataVersion: String?
    let device: Device
    let system: System
    let history: [String: Double]
    let preferences: [String: AnyCodable]
}

extension MigrationContext {
    /// The context that crossed the boundary.
    package init(boundary json: Data) throws(StorageError) {
        let form: ContextForm
        do { form = try JSONCoding.decode(ContextForm.self, from: json) } catch {
            throw StorageError(.unsupported, "a migration was called without its context: \(CodingFailure(error))")
        }
        self.init(
            appVersion: form.appVersion, dataVersion: form.dataVersion,
            deviceInfo: DeviceInfo(
                platform: DeviceInfo.Platform(rawValue: form.device.platform) ?? .unknown, role: form.device.role,
                systemVersion: form.device.systemVersion, model: form.device.model),
            migrationHistory: form.history.mapValues { Date(timeIntervalSince1970: $0) },
            userPreferences: form.preferences,
            systemInfo: SystemInfo(
                availableDiskSpace: form.system.availableDiskSpace, availableMemory: form.system.availableMemory,
                isLowPowerModeEnabled: form.system.isLowPowerModeEnabled ?? false))
    }

    /// The context for the other side.
    package func boundary() throws(StorageError) -> Data {
        let form = ContextForm(
            appVersion: appVersion, dataVersion: dataVersion,
            device: .init(
                platform: deviceInfo.platform.rawValue, role: deviceInfo.role, systemVersion: deviceInfo.systemVersion,
                model: deviceInfo.model),
            system: .init(
                availableDiskSpace: systemInfo.availableDiskSpace, availableMemory: systemInfo.availableMemory,
                isLowPowerModeEnabled: systemInfo.isLowPowerModeEnabled),
            history: migrationHistory.mapValues(\.timeIntervalSince1970), preferences: userPreferences)
        do { return try JSONCoding.encode(form) } catch {
            throw StorageError(
                .serializationFailed, "a migration's context cannot be encoded as JSON: \(CodingFailure(error))")
        }
    }
}
