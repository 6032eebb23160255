#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    public import Foundation
#endif

/// The serializer of a key whose type the caller does not know.
struct AnyKeyCoding: Sendable {
    private let format: SerializerFormat
    /// Decodes with the key's own type, if it has one.
    private let decode: (@Sendable (Data) throws(StorageError) -> any Sendable)?
    private let decodeAny: @Sendable (Data) throws(StorageError) -> AnyCodable

    init<Value>(_ serializer: Serializer<Value>) {
        format = serializer.format
        decode = { (data) throws(StorageError) in try serializer.decode(data) }
        decodeAny = { (data) throws(StorageError) in
            let value = try serializer.decode(data)
            return try Serializer<AnyCodable>.json.decode(Serializer<Value>.json.encode(value))
        }
    }

    /// For a key without a type: only the format determines how its bytes are read.
    init(_ format: SerializerFormat) {
        self.format = format
        decode = nil
        decodeAny = { (data) throws(StorageError) in
            switch format {
            case .json: return try Serializer<AnyCodable>.json.decode(data)
            case .plist: return try Serializer<AnyCodable>.plist.decode(data)
            case .text: return AnyCodable(.string(try Serializer<String>.text.decode(data)))
            case .data, .custom: throw Self.unknown(format)
            }
        }
    }

    func value<Value: Codable & Sendable>(_ type: Value.Type, _ data: Data) throws(StorageError) -> Value {
        guard let decode else {
            switch format {
            case .json: return try Serializer<Value>.json.decode(data)
            case .plist: return try Serializer<Value>.plist.decode(data)
            case .text: return try cast(try Serializer<String>.text.decode(data), to: type)
            case .data, .custom:
                if format == .data, let bytes = data as? Value { return bytes }
                throw Self.unknown(format)
            }
        }
        return try cast(try decode(data), to: type)
    }

    private func cast<Value: Sendable>(
        _ decoded: any Sendable, to type: Value.Type
    ) throws(StorageError) -> Value {
        guard let value = decoded as? Value else {
            throw StorageError(
                .unsupported, "its values have another type; expected \(Value.self)",
                hint: "use a migration that transforms them")
        }
        return value
    }

    func anyValue(_ data: Data) throws(StorageError) -> AnyCodable { try decodeAny(data) }

    func check(_ data: Data) throws(StorageError) {
        if let decode {
            _ = try decode(data)
        } else if ![.data, .custom].contains(format) {
            _ = try decodeAny(data)
        }
    }

    private static func unknown(_ format: SerializerFormat) -> StorageError {
        StorageError(
            .unsupported, "its bytes have the format '\(format)' and no type, so they cannot be decoded",
            hint: "declare the key with its type and serializer")
    }
}
