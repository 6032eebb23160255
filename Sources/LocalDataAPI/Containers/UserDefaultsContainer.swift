/// A group of settings that are stored together, with a version. When the code renames a setting, it increases the
/// version and adds a ``ContainerStep`` that moves the stored value.
///
/// ```swift
/// struct MySettings: UserDefaultsContainer {
///     static let version = 2
///     static let prefix = "MyApp."
///     static let steps = [ContainerStep(from: 1, to: 2, [.rename("userName", to: "username")])]
///
///     @Setting var username = "guest"                    // MyApp.MySettings.username
///     @Setting(key: "colour_theme") var theme = "light"  // MyApp.colour_theme
/// }
/// let settings = try await MySettings.open()
/// ```
///
/// - **Keys.** A setting is stored under `<prefix><name>.<property>`, or under `<prefix><key>` if it names a key. Its
///   module is no part of that.
/// - **Version.** The store keeps the version of its data under ``versionKey``. Each step commits its changes and the
///   new version as one.
/// - **Steps stay.** A step that users may still need is never removed: `open` refuses a list with a gap.
/// - **Nothing is left behind.** `open` refuses to stamp a version if an earlier release's values are stored under
///   another name, and refuses a step that moves a value to a key that no setting has.
///
/// A `struct` of settings is `Sendable`. A `final class` may be a container, too; it belongs to the task or actor that
/// opened it, unless it says `@unchecked Sendable`, which its settings allow.
public protocol UserDefaultsContainer: SendableMetatype {
    /// Creates a container with the declared values. It is not connected to a store yet.
    init()

    /// The version of the code; 1 by default. Increase it when a key changes.
    static var version: Int { get }
    /// What the keys of all settings begin with; empty by default.
    static var prefix: String { get }
    /// The part of derived keys between prefix and property: by default, the type's name without its module.
    static var name: String { get }
    /// Where the settings are stored; by default, the app's own preferences, which no other app sees.
    static var store: StorageDomain { get }
    /// Where the store keeps the data's version; `<prefix><name>.__version` by default.
    static var versionKey: ContainerVersionKey { get }
    /// The steps from each version to the next, in any order.
    static var steps: [ContainerStep] { get }
    /// The version of data that was stored without one; 1 by default. The steps before it are not needed.
    static var baseline: Int { get }
    /// Earlier names of the type, under which the store may still have data.
    static var formerNames: [String] { get }
    /// Keys of the store that are none of this container's settings, although it looks so: those that its steps write
    /// for other code, and version keys of other containers with settings of the same names.
    static var otherKeys: [ContainerKey] { get }
    /// Containers whose data a step of this one takes, or which move data here: they are migrated first.
    static var migratesAfter: [any UserDefaultsContainer.Type] { get }
}

extension UserDefaultsContainer {
    /// 1, the first version.
    public static var version: Int { 1 }
    /// No prefix.
    public static var prefix: String { "" }
    /// The type's name without its module.
    public static var name: String { String(describing: Self.self) }
    /// The app's own preferences.
    public static var store: StorageDomain { .userDefaults() }
    /// A key of the container's own.
    public static var versionKey: ContainerVersionKey { .container(name, prefix: prefix) }
    /// No steps.
    public static var steps: [ContainerStep] { [] }
    /// 1: data without a version is as the first version left it.
    public static var baseline: Int { 1 }
    /// No earlier names.
    public static var formerNames: [String] { [] }
    /// No other keys.
    public static var otherKeys: [ContainerKey] { [] }
    /// No other containers.
    public static var migratesAfter: [any UserDefaultsContainer.Type] { [] }

    /// The container as data: its version, its settings and their keys.
    public static var definition: ContainerDefinition { ContainerDefinition(of: Self.self) }
}
