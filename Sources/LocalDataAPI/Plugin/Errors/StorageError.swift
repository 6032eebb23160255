/// Why a storage operation failed: a stable code, a message that names the object, and a hint at what to do next.
///
/// The same error crosses the plugin boundary in both directions: the app catches a plugin's error with the same code
/// and message. Match errors by code, so that messages can improve without breaking callers:
///
/// ```swift
/// do { theme = try await router.get(.theme) } catch StorageError.notFound { theme = "light" }
/// ```
///
/// Messages never contain a stored value or key material.
public struct StorageError: Error, Sendable {
    /// What kind of failure this is.
    public let code: Code
    /// What failed, on which object (domain, key, path, plugin), what was expected and what was found.
    public let message: String
    /// What the reader can do next; empty if there is no advice.
    public let hint: String
    /// What made a file operation fail. It stays in the process: no boundary passes it on.
    public let cause: Cause

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What failed, by name. Lower case, no final period, no secret. If empty, the code's own sentence.
    ///   - hint: What to do next; may be empty.
    public init(_ code: Code, _ message: String = "", hint: String = "") {
        self.init(code, message, hint: hint, cause: .other)
    }

    /// Creates an error with its cause.
    public init(_ code: Code, _ message: String, hint: String, cause: Cause) {
        self.code = code
        self.message = message.isEmpty ? code.summary : message
        self.hint = hint
        self.cause = cause
    }

    /// Keeps a `StorageError`; any other error becomes ``Code/unknown`` with its text.
    public init(wrapping error: any Error) {
        self = (error as? StorageError) ?? StorageError(.unknown, "\(error)")
    }

    /// Keeps a `StorageError`; any other error becomes ``Code/unknown`` with its text.
    public static func unknown(_ error: any Error) -> StorageError { StorageError(wrapping: error) }

    /// Matches any `StorageError` with the same code, so that `catch StorageError.notFound` works.
    public static func ~= (pattern: StorageError, error: any Error) -> Bool {
        (error as? StorageError)?.code == pattern.code
    }
}

extension StorageError {
    /// What made a file operation fail, for code that reacts to it.
    public enum Cause: Hashable, Sendable {
        /// Something other than a file operation failed.
        case other
        /// A system call failed with this error number; see errno(3).
        case systemCall(Int32)
        /// Another user could have changed what is there. The number is the one that the system would refuse it with.
        case distrust(Int32)
        /// A durable change failed because of a system call, whose own message is `call`.
        case change(Int32, call: String)
        /// Something other than a regular file has the name: the kind in words, such as "a pipe".
        case irregularFile(kind: String)
    }

    /// The error number of the system call that failed, e.g. `ENOSPC`; `nil` if none did.
    public var systemError: Int32? {
        switch cause {
        case .systemCall(let number), .distrust(let number), .change(let number, _): number
        case .other, .irregularFile: nil
        }
    }
}

extension StorageError: Equatable {
    /// Two errors are equal when their codes are; messages are for people.
    public static func == (left: StorageError, right: StorageError) -> Bool { left.code == right.code }
}

extension StorageError: CustomStringConvertible {
    /// The message, followed by the hint if there is one.
    public var description: String { hint.isEmpty ? message : "\(message) (\(hint))" }
}

extension StorageError {
    /// A kind of failure, with its number at the plugin boundary (`ld_error_code` in the C header).
    ///
    /// Later versions may add codes; numbers are never reused. A number that this version does not know keeps its
    /// value.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The number at the boundary.
        public let rawValue: Int32

        /// Wraps a number.
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// The code that the other side of the boundary reported. Codes are positive: a process may use other numbers
        /// for itself, so they are ``unknown`` when they come from outside.
        package static func reported(_ number: Int32) -> Self { number > 0 ? Self(rawValue: number) : .unknown }

        /// No value is stored for the key.
        public static let notFound = Code(rawValue: 1)
        /// A value could not be turned into bytes.
        public static let serializationFailed = Code(rawValue: 2)
        /// Stored bytes could not be turned into a value; the bytes stay where they are.
        public static let deserializationFailed = Code(rawValue: 3)
        /// The key's security policy cannot be applied here; nothing was written.
        public static let securityApplicationFailed = Code(rawValue: 4)
        /// The keychain refused or failed.
        public static let keychainError = Code(rawValue: 5)
        /// A file operation failed; the message has the path and the system's message.
        public static let fileError = Code(rawValue: 6)
        /// The name of a preferences suite is invalid.
        public static let invalidUserDefaultsSuite = Code(rawValue: 7)
        /// An app group identifier is missing or invalid.
        public static let invalidAppGroupIdentifier = Code(rawValue: 8)
        /// A value is larger than the limit for automatic synchronization.
        public static let dataTooLargeForSync = Code(rawValue: 9)
        /// A catalog is registered and does not list the key.
        public static let unregisteredKey = Code(rawValue: 10)
        /// Two registered keys have the same address.
        public static let duplicateRegisteredKeys = Code(rawValue: 11)
        /// A key in a catalog has no description.
        public static let missingDescription = Code(rawValue: 12)
        /// The key is for phones, and `device.role` is `watch`.
        public static let phoneOnlyKeyAccessedOnWatch = Code(rawValue: 13)
        /// The key is for watches, and `device.role` is `phone`.
        public static let watchOnlyKeyAccessedOnPhone = Code(rawValue: 14)
        /// An error from outside without a code of its own; the message is its text.
        public static let unknown = Code(rawValue: 15)

        /// A key's name, scope or address is not well formed.
        public static let invalidAddress = Code(rawValue: 32)
        /// The value is larger than the store accepts.
        public static let valueTooLarge = Code(rawValue: 33)
        /// The store cannot be reached now.
        public static let storeUnavailable = Code(rawValue: 34)
        /// Another user of the store did not release it in time.
        public static let busy = Code(rawValue: 35)
        /// A call did not end before its deadline and was abandoned; whether it took effect is unknown.
        public static let timedOut = Code(rawValue: 36)
        /// The caller cancelled the call.
        public static let cancelled = Code(rawValue: 37)
        /// Stored data is damaged.
        public static let corrupt = Code(rawValue: 38)
        /// The component does not offer the requested feature.
        public static let unsupported = Code(rawValue: 39)
        /// A configuration value is missing, unknown or of the wrong kind.
        public static let invalidConfiguration = Code(rawValue: 40)
        /// A component's options are missing, unknown or of the wrong kind.
        public static let invalidOptions = Code(rawValue: 41)
        /// The host refused a plugin file before or while loading it.
        public static let pluginRefused = Code(rawValue: 42)
        /// No plugin on the search path offers the component.
        public static let componentNotFound = Code(rawValue: 43)
        /// More than one plugin offers the component.
        public static let componentAmbiguous = Code(rawValue: 44)
        /// The system refused access.
        public static let permissionDenied = Code(rawValue: 45)
        /// The device is full, or a quota is reached; the old value stays.
        public static let noSpace = Code(rawValue: 46)
        /// The new value is in place and complete, but whether it survives a power loss is unknown.
        public static let durabilityUnknown = Code(rawValue: 47)
        /// A sealed value cannot be opened: the value, its header or its address was changed, or another key sealed it.
        /// The stored bytes stay where they are.
        public static let cannotOpen = Code(rawValue: 48)
        /// A conditional write found another value than it expects, or one where it expects none; nothing has changed.
        public static let conflict = Code(rawValue: 49)
        /// A sync transport cannot resume from the position; the host fetches from the beginning.
        public static let positionLost = Code(rawValue: 50)
    }
}

extension StorageError.Code {
    /// The code's own sentence, for errors without a message.
    public var summary: String {
        switch self {
        case .notFound: "no value is stored for the key"
        case .serializationFailed: "the value could not be serialized"
        case .deserializationFailed: "the stored bytes could not be decoded"
        case .securityApplicationFailed: "the security policy cannot be applied"
        case .keychainError: "the keychain failed"
        case .fileError: "a file operation failed"
        case .invalidUserDefaultsSuite: "the suite name is not usable"
        case .invalidAppGroupIdentifier: "the app group identifier is missing or not usable"
        case .dataTooLargeForSync: "the value is too large to synchronize automatically"
        case .unregisteredKey: "the key is in no registered catalog"
        case .duplicateRegisteredKeys: "the key is registered twice"
        case .missingDescription: "the key has no description"
        case .phoneOnlyKeyAccessedOnWatch: "the key is for phones only"
        case .watchOnlyKeyAccessedOnPhone: "the key is for watches only"
        case .unknown: "unknown error"
        case .invalidAddress: "the address is not well formed"
        case .valueTooLarge: "the value is larger than the store accepts"
        case .storeUnavailable: "the store cannot be reached"
        case .busy: "the store is busy"
        case .timedOut: "the call did not end before its deadline"
        case .cancelled: "the call was cancelled"
        case .corrupt: "the stored data is damaged"
        case .unsupported: "the component does not support this"
        case .invalidConfiguration: "the configuration is not valid"
        case .invalidOptions: "the options are not valid"
        case .pluginRefused: "the plugin was refused"
        case .componentNotFound: "no plugin offers the component"
        case .componentAmbiguous: "more than one plugin offers the component"
        case .permissionDenied: "access was refused"
        case .noSpace: "no space is left"
        case .durabilityUnknown: "the value is written but may not survive a power loss"
        case .cannotOpen: "the sealed value cannot be opened"
        case .conflict: "the stored value is not the expected one"
        case .positionLost: "the transport cannot resume from this position"
        default: "error \(rawValue)"
        }
    }
}

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
        .conflict: "conflict", .positionLost: "positionLost",
    ]
}

/// One error per code, to match with `catch StorageError.notFound` and to throw with the code's own sentence.
extension StorageError {
    /// No value is stored for the key.
    public static let notFound = StorageError(.notFound)
    /// A value could not be turned into bytes.
    public static let serializationFailed = StorageError(.serializationFailed)
    /// Stored bytes could not be turned into a value.
    public static let deserializationFailed = StorageError(.deserializationFailed)
    /// The key's security policy cannot be applied here.
    public static let securityApplicationFailed = StorageError(.securityApplicationFailed)
    /// The keychain refused or failed.
    public static let keychainError = StorageError(.keychainError)
    /// A file operation failed.
    public static let fileError = StorageError(.fileError)
    /// The name of a preferences suite is invalid.
    public static let invalidUserDefaultsSuite = StorageError(.invalidUserDefaultsSuite)
    /// An app group identifier is missing or invalid.
    public static let invalidAppGroupIdentifier = StorageError(.invalidAppGroupIdentifier)
    /// A value is larger than the limit for automatic synchronization.
    public static let dataTooLargeForSync = StorageError(.dataTooLargeForSync)
    /// A catalog is registered and does not list the key.
    public static let unregisteredKey = StorageError(.unregisteredKey)
    /// Two registered keys have the same address.
    public static let duplicateRegisteredKeys = StorageError(.duplicateRegisteredKeys)
    /// A key in a catalog has no description.
    public static let missingDescription = StorageError(.missingDescription)
    /// The key is for phones, and this device is a watch.
    public static let phoneOnlyKeyAccessedOnWatch = StorageError(.phoneOnlyKeyAccessedOnWatch)
    /// The key is for watches, and this device is a phone.
    public static let watchOnlyKeyAccessedOnPhone = StorageError(.watchOnlyKeyAccessedOnPhone)
    /// An error from outside without a code of its own.
    public static let unknown = StorageError(.unknown)
    /// A key's name, scope or address is not well formed.
    public static let invalidAddress = StorageError(.invalidAddress)
    /// The value is larger than the store accepts.
    public static let valueTooLarge = StorageError(.valueTooLarge)
    /// The store cannot be reached.
    public static let storeUnavailable = StorageError(.storeUnavailable)
    /// The store did not become free in time.
    public static let busy = StorageError(.busy)
    /// A call did not end before its deadline.
    public static let timedOut = StorageError(.timedOut)
    /// The caller cancelled the call.
    public static let cancelled = StorageError(.cancelled)
    /// Stored data is damaged.
    public static let corrupt = StorageError(.corrupt)
    /// The component does not offer the requested feature.
    public static let unsupported = StorageError(.unsupported)
    /// A configuration value is missing, unknown or of the wrong kind.
    public static let invalidConfiguration = StorageError(.invalidConfiguration)
    /// A component's options are missing, unknown or of the wrong kind.
    public static let invalidOptions = StorageError(.invalidOptions)
    /// A plugin file was refused.
    public static let pluginRefused = StorageError(.pluginRefused)
    /// No plugin on the search path offers the component.
    public static let componentNotFound = StorageError(.componentNotFound)
    /// More than one plugin offers the component.
    public static let componentAmbiguous = StorageError(.componentAmbiguous)
    /// The system refused access.
    public static let permissionDenied = StorageError(.permissionDenied)
    /// The device is full, or a quota is reached.
    public static let noSpace = StorageError(.noSpace)
    /// The new value is in place but may not survive a power loss.
    public static let durabilityUnknown = StorageError(.durabilityUnknown)
    /// A sealed value cannot be opened.
    public static let cannotOpen = StorageError(.cannotOpen)
    /// A conditional write found another value than it expects.
    public static let conflict = StorageError(.conflict)
    /// A sync transport cannot resume from a position.
    public static let positionLost = StorageError(.positionLost)
}
