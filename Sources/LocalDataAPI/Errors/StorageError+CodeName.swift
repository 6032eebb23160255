extension StorageError.Code {
    /// The name of the code for other programs, e.g. `notFound`; `code<number>` if this version does not know it.
    package var name: String { Self.names[self] ?? "code\(rawValue)" }

    private static let names: [Self: String] = [
        .notFound: "notFound", .serializationFailed: "serializationFailed",
        .deserializationFailed: "deserializationFailed", .securityApplicationFailed: "securityApplicationFailed",
        .keychainError: "keychainError", .fileError: "fileError",
        .invalidUserDefaultsSuite: "invalidUserDefaultsSuite",
        .invalidAppGroupIdentifier: "invalidAppGroupIdentifier", .dataTooLargeForSync: "dataTooLargeForSync",
        .unregisteredKey: "unregisteredKey", .duplicateRegisteredKeys: "duplicateRegisteredKeys",
        .missingDescription: "missingDescription", .phoneOnlyKeyAccessedOnWatch: "phoneOnlyKeyAccessedOnWatch",
        .watchOnlyKeyAccessedOnPhone: "watchOnlyKeyAccessedOnPhone", .unknown: "unknown",
        .invalidAddress: "invalidAddress", .valueTooLarge: "valueTooLarge", .storeUnavailable: "storeUnavailable",
        .busy: "busy", .timedOut: "timedOut", .cancelled: "cancelled", .corrupt: "corrupt",
        .unsupported: "unsupported", .invalidConfiguration: "invalidConfiguration",
        .invalidOptions: "invalidOptions", .pluginRefused: "pluginRefused", .componentNotFound: "componentNotFound",
        .componentAmbiguous: "componentAmbiguous", .permissionDenied: "permissionDenied", .noSpace: "noSpace",
        .durabilityUnknown: "durabilityUnknown", .cannotOpen: "cannotOpen",
    ]
}
