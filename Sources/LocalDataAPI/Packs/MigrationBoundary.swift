package import CLocalData

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

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

/// A key in a migration pack's list. Missing members default to those of an address that no catalog describes.
struct MigrationKeyForm: Codable {
    let address: String
    var serializer: SerializerFormat?
    var security: SecurityPolicy?
    var type: String?
    var owner: String?
    var description: String?
    var availability: PlatformAvailability?
    /// Left out for `never`.
    var sync: SyncPolicy?

    init(_ key: StorageKeyDescriptor) {
        address = "\(key.domain)/\(key.name)"
        serializer = key.serializer
        security = key.security
        type = key.valueType
        owner = key.owner
        description = key.description
        availability = key.availability
        sync = key.syncPolicy == .never ? nil : key.syncPolicy
    }

    /// - Throws: `invalidAddress` with what is wrong with the address.
    func key() throws(StorageError) -> AnyStorageKey {
        let known = try StorageKeyDescriptor(address: address)
        return AnyStorageKey(
            StorageKeyDescriptor(
                name: known.name, domain: known.domain, security: security ?? known.security,
                serializer: serializer ?? known.serializer, valueType: type ?? "", owner: owner ?? "",
                description: description ?? "", availability: availability ?? .all,
                syncPolicy: sync ?? .never))
    }
}

extension AnyStorageKey {
    /// The key in a C struct.
    ///
    /// - Throws: `invalidAddress` or `unsupported` with the unusable member.
    package init(_ key: ld_migration_key) throws(StorageError) {
        guard let address = key.address.text, let serializer = key.serializer.text else {
            throw StorageError(.invalidAddress, "a key at the plugin boundary is not UTF-8")
        }
        let known = try StorageKeyDescriptor(address: address)
        var format = known.serializer
        if !serializer.isEmpty {
            guard let named = SerializerFormat(rawValue: serializer) else {
                throw StorageError(
                    .unsupported, "'\(address)': unknown serializer '\(serializer)'",
                    hint: "use one of \(SerializerFormat.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            format = named
        }
        var security = known.security
        if key.security.count > 0 {
            do { security = try JSONCoding.decode(SecurityPolicy.self, from: Data(key.security.bytes())) } catch {
                throw StorageError(
                    .unsupported, "'\(address)': the security is not a policy: \(CodingFailure(error))",
                    hint: "see ld_migration_key in the header")
            }
        }
        self.init(
            StorageKeyDescriptor(
                name: known.name, domain: known.domain, security: security, serializer: format, owner: "",
                description: ""))
    }

    /// Lends the key to the other side for the duration of `body`.
    package func withBoundary(_ body: (UnsafePointer<ld_migration_key>) -> ld_status) throws(StorageError) -> ld_status
    {
        let policy: Data
        do { policy = try JSONCoding.encode(descriptor.security) } catch {
            throw StorageError(
                .unsupported,
                "'\(descriptor.domain)/\(descriptor.name)': its security policy cannot cross the plugin boundary")
        }
        return "\(descriptor.domain)/\(descriptor.name)".withBytes { address in
            descriptor.serializer.rawValue.withBytes { serializer in
                policy.withUnsafeBytes { policy in
                    var key = ld_migration_key(
                        size: UInt32(MemoryLayout<ld_migration_key>.size), address: address, serializer: serializer,
                        security: ld_bytes(data: policy.baseAddress, count: policy.count))
                    return body(&key)
                }
            }
        }
    }
}

/// A result as JSON; see `migrate` in the header.
private struct ResultForm: Codable {
    struct Failure: Codable {
        let code: Int32
        var message: String?
        var hint: String?
    }

    struct MigrationFailure: Codable {
        let code: Int32
        var message: String?
        var hint: String?
        var underlying: Failure?
    }

    let success: Bool
    var migratedCount: Int?
    var errors: [MigrationFailure]?
    var metadata: [String: AnyCodable]?
}

extension MigrationResult {
    /// The result that crossed the boundary.
    ///
    /// - Throws: `deserializationFailed` if the JSON is not a result.
    package init(boundary json: Data) throws(StorageError) {
        guard json.count <= Self.largestForm else {
            throw StorageError(
                .valueTooLarge, "a migration's result has \(json.count) bytes; expected at most \(Self.largestForm)")
        }
        let form: ResultForm
        do { form = try JSONCoding.decode(ResultForm.self, from: json) } catch {
            throw StorageError(
                .deserializationFailed, "a migration's result is malformed: \(CodingFailure(error))",
                hint: "see migrate of ld_migration_pack in the header")
        }
        guard form.migratedCount ?? 0 >= 0 else {
            throw StorageError(.deserializationFailed, "a migration's result has a negative count")
        }
        self.init(
            success: form.success, migratedCount: form.migratedCount ?? 0,
            errors: (form.errors ?? []).map { failure in
                let underlying = failure.underlying.map {
                    StorageError(StorageError.Code.reported($0.code), $0.message ?? "", hint: $0.hint ?? "")
                }
                return MigrationError(
                    number: failure.code, failure.message ?? "", hint: failure.hint ?? "", underlying: underlying)
            }, metadata: form.metadata ?? [:])
    }

    /// The result for the other side.
    package func boundary() throws(StorageError) -> Data {
        let form = ResultForm(
            success: success, migratedCount: migratedCount,
            errors: errors.map { error in
                ResultForm.MigrationFailure(
                    code: error.code.number, message: error.message,
                    underlying: error.underlying.map {
                        ResultForm.Failure(code: $0.code.rawValue, message: $0.message, hint: $0.hint)
                    })
            }, metadata: metadata)
        do { return try JSONCoding.encode(form) } catch {
            throw StorageError(
                .serializationFailed, "a migration's result cannot be encoded as JSON: \(CodingFailure(error))")
        }
    }

    private static let largestForm = 1 << 20
}

extension MigrationError {
    /// The error with a number that crossed the boundary; a storage error becomes the underlying error of
    /// `storageFailed`.
    package init(number: Int32, _ message: String, hint: String, underlying: StorageError? = nil) {
        if let code = Code(number: number) {
            self.init(code, message, underlying: underlying)
        } else {
            let error = StorageError(StorageError.Code.reported(number), message, hint: hint)
            self.init(.storageFailed, error.message, underlying: error)
        }
    }
}
