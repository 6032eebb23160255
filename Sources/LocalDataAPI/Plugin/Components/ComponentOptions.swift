#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The options that the host opens a component with. The host has checked them against the component's list and filled
/// in defaults and folders.
public struct ComponentOptions: Sendable {
    private let values: [String: ComponentOption.Value]

    /// Options given in code.
    public init(_ values: [String: ComponentOption.Value] = [:]) { self.values = values }

    /// Reads the JSON object that crossed the boundary.
    package init(json: Data) throws(StorageError) {
        do {
            let decoded = try JSONCoding.decode([String: ComponentOption.Value?].self, from: json)
            values = decoded.compactMapValues { $0 }
        } catch {
            throw StorageError(
                .invalidOptions, "the options are not a flat JSON object: \(CodingFailure(error))")
        }
    }

    /// The text or path of an option.
    public func string(_ name: String) throws(StorageError) -> String {
        guard case .string(let value) = values[name] else { throw missing(name, "text") }
        return value
    }

    /// The whole number of an option.
    public func integer(_ name: String) throws(StorageError) -> Int64 {
        guard case .integer(let value) = values[name] else { throw missing(name, "a whole number") }
        return value
    }

    /// The number of an option.
    public func number(_ name: String) throws(StorageError) -> Double {
        switch values[name] {
        case .number(let value): return value
        case .integer(let value): return Double(value)
        default: throw missing(name, "a number")
        }
    }

    /// The whole number of an option, within limits.
    ///
    /// - Parameter unit: Follows the limits in the error of a number beyond them, e.g. `seconds`.
    public func integer(
        _ name: String, in range: ClosedRange<Int64>, unit: String = ""
    ) throws(StorageError) -> Int64 {
        let number = try integer(name)
        guard range.contains(number) else {
            throw Self.beyond(name, "\(number)", "\(range.lowerBound) to \(range.upperBound)", unit)
        }
        return number
    }

    /// The number of an option, within limits.
    ///
    /// - Parameter unit: Follows the limits in the error of a number beyond them, e.g. `seconds`.
    public func number(
        _ name: String, in range: ClosedRange<Double>, unit: String = ""
    ) throws(StorageError) -> Double {
        let number = try number(name)
        guard range.contains(number) else {
            func text(_ limit: Double) -> String { Int64(exactly: limit).map { "\($0)" } ?? "\(limit)" }
            throw Self.beyond(name, "\(number)", "\(text(range.lowerBound)) to \(text(range.upperBound))", unit)
        }
        return number
    }

    private static func beyond(_ name: String, _ number: String, _ limits: String, _ unit: String) -> StorageError {
        StorageError(
            .invalidOptions, "option '\(name)' is \(number); expected \(limits)\(unit.isEmpty ? "" : " \(unit)")")
    }

    /// The truth value of an option.
    public func boolean(_ name: String) throws(StorageError) -> Bool {
        guard case .boolean(let value) = values[name] else { throw missing(name, "true or false") }
        return value
    }

    /// The list of an option.
    public func list(_ name: String) throws(StorageError) -> [AnyCodable] {
        guard case .list(let value) = values[name] else { throw missing(name, "a list") }
        return value
    }

    /// Whether the option is set.
    public func contains(_ name: String) -> Bool { values[name] != nil }

    private func missing(_ name: String, _ expected: String) -> StorageError {
        let found =
            switch values[name] {
            case nil: "is missing"
            case .list: "is a list"
            case let value?: "is \(value)"
            }
        return StorageError(.invalidOptions, "option '\(name)' \(found); expected \(expected)")
    }
}
