/// The severity of a message.
public enum StorageLogLevel: Int32, Comparable, CaseIterable, Hashable, Sendable {
    /// What the library does, step by step.
    case debug = 0
    /// What an operator may want to know.
    case info = 1
    /// Something that may need attention.
    case warning = 2
    /// A failure that no caller learns of otherwise.
    case error = 3

    /// Orders by severity.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
