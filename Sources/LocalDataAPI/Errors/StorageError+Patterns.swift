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
    /// The value is larger than the store takes.
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
}
