/// A new plugin's name, which is also its library's, its Swift module's and its Swift type's: `MyStore`.
struct PluginName: Sendable {
    /// As it was given: a Swift identifier in upper camel case.
    let text: String
    /// The component's id: `my-store`.
    let component: String

    /// In lower case, for names of files in C.
    var lowercase: String { text.lowercased() }

    init(_ text: String) throws(UsageError) {
        let isCamelCase =
            text.first.map { Self.upper.contains($0) } ?? false
            && text.allSatisfy { Self.upper.contains($0) || Self.lower.contains($0) || Self.digits.contains($0) }
        guard isCamelCase else {
            throw UsageError(
                "'\(text)' is not usable as a plugin's name; expected upper camel case: a capital, then letters of "
                    + "ASCII and digits",
                hint: Self.suggestion(for: text).map { "for example: ld-host plugins new \($0)" }
                    ?? "for example: ld-host plugins new MyStore")
        }
        let component = Self.kebabCase(text)
        guard component.utf8.count <= 64 else {
            throw UsageError(
                "the component's id '\(component)' has \(component.utf8.count) bytes; expected at most 64",
                hint: "use a shorter name")
        }
        guard !Self.taken.contains(text), !Self.takenComponents.contains(component) else {
            throw UsageError(
                "the name '\(text)' is taken by LocalData or by Swift", hint: "add a word: My\(text)")
        }
        self.text = text
        self.component = component
    }

    /// The name of an example, which is right and not taken.
    init(ofExample text: String) {
        self.text = text
        component = Self.kebabCase(text)
    }

    private static let upper: ClosedRange<Character> = "A"..."Z"
    private static let lower: ClosedRange<Character> = "a"..."z"
    private static let digits: ClosedRange<Character> = "0"..."9"

    /// Modules, products and types that the new package's own would hide, or that would hide them.
    private static let taken: Set<String> = [
        "AnyStorageKey", "AnyStorageMigration", "Array", "ByteCoding", "CChecksum", "CNATS", "CPostgreSQL", "CSecret",
        "CacheRemoval", "Codable", "ConformanceKit", "DefaultPlugins", "EnumerableBackend", "FileStorePlugin",
        "FolderSyncPlugin", "HostClients", "HostGround", "HostMigration", "HostPlugins", "HostSealing", "HostStores",
        "HostSync", "HostTransfer", "Int", "JSON", "LinkedStores", "LocalDataPluginAPI", "LookingThread",
        "MemoryStorePlugin", "MigrationConformance", "MigrationContext", "MigrationEffect", "MigrationManifest",
        "MigrationPack", "MigrationResult", "NATSSync", "NATSSyncPlugin", "PostgreSQLStore", "SecretService",
        "ServerAccess", "SigningProvider", "StandardMigrations", "StorageKey", "StorageMigration", "StorageProviding",
        "StorageRouter", "SyncConformance", "SyncNotice", "SyncRecord", "SyncTransport", "ThemeMigration", "URL",
        "Unmanaged", "UnsafeMutableRawPointer", "UnsafeRawBufferPointer",
        "Any", "AuthenticatedCipher", "Bool", "CLibSodium", "CLinux", "CLocalData", "COpenSSL", "CSQLite", "CSodium",
        "Component",
        "ComponentInfo", "ComponentOptions", "CryptoConformance", "CryptoProvider", "Data", "DurableFiles", "Equatable",
        "Error", "FileManager", "FileStore", "FolderSync", "Foundation", "FoundationEssentials", "Glibc", "Hashable",
        "HostServices", "KeyAgreement", "KeyDerivationFunction", "LocalData", "LocalDataAPI", "LocalDataHost",
        "LocalDataTesting", "MemoryLayout", "MemoryStore", "MutableRawSpan", "Mutex", "Never", "OpenSSLCrypto",
        "Optional", "Package", "PackageDescription", "Plugin", "PropertyListDecoder", "PropertyListEncoder", "Protocol",
        "RawSpan", "Record", "Result", "SQLiteStore", "Self", "Sendable", "Set", "SodiumCrypto", "StorageAddress",
        "StorageBackend", "StorageConformance",
        "StorageError", "StorageNamespace", "StoreProperties", "String", "Suite", "Swift", "Synchronization", "Test",
        "Testing", "Type", "UInt64", "UInt8", "UUID", "UnsafeMutablePointer", "UnsafePointer", "UnsafeRawPointer",
        "ValueAttributes", "Void", "XCTest",
    ]

    /// Components of the plugins that come with LocalData: two of one id are an error at run time.
    private static let takenComponents: Set<String> = [
        "file", "folder", "memory", "nats", "openssl", "postgresql", "secret-service", "sodium", "sqlite", "standard",
    ]

    /// `MyStore` becomes `my-store`, `HTTP2Store` `http2-store`.
    private static func kebabCase(_ text: String) -> String {
        let letters = Array(text)
        var result = ""
        for (index, letter) in letters.enumerated() {
            if upper.contains(letter), index > 0 {
                let startsWord = index + 1 < letters.count && lower.contains(letters[index + 1])
                if !upper.contains(letters[index - 1]) || startsWord { result += "-" }
            }
            result += letter.lowercased()
        }
        return result
    }

    /// `my-store` becomes `MyStore`; `nil` if nothing usable is left.
    private static func suggestion(for text: String) -> String? {
        let words = text.split { !upper.contains($0) && !lower.contains($0) && !digits.contains($0) }
        let name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return name.first.map { upper.contains($0) } ?? false ? name : nil
    }
}
