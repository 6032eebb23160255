#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Turns a value into the bytes that are stored, and back.
public struct Serializer<Value: Codable & Sendable>: Sendable {
    /// Which format the bytes have.
    public let format: SerializerFormat

    /// The app's own JSON encoder and decoder, if the bytes are written with these.
    let coders: JSONCoders?

    private let encodeAction: @Sendable (Value) throws -> Data
    // Usable from inlined code, so that a call of the decoder does not create this generic type at run time, which
    // would contend for a reference count that all threads share.
    @usableFromInline let decodeAction: @Sendable (Data) throws -> Value

    private init(
        _ format: SerializerFormat, coders: JSONCoders? = nil,
        encode: @escaping @Sendable (Value) throws -> Data,
        decode: @escaping @Sendable (Data) throws -> Value
    ) {
        self.format = format
        self.coders = coders
        encodeAction = encode
        decodeAction = decode
    }

    /// JSON (RFC 8259), with keys in order, so that equal values give equal bytes.
    public static var json: Serializer {
        Serializer(
            .json, encode: { try JSONCoding.encode($0) }, decode: { try JSONCoding.decode(Value.self, from: $0) })
    }

    /// JSON by the app's own encoder and decoder, such as one with another date format. They must not be changed later.
    public static func json(encoder: JSONEncoder, decoder: JSONDecoder) -> Serializer {
        Serializer(
            .json, coders: JSONCoders(encoder: encoder, decoder: decoder), encode: { try encoder.encode($0) },
            decode: { try decoder.decode(Value.self, from: $0) })
    }

    /// A binary property list; it also reads XML. The value must encode as an array or a dictionary. As with JSON, at
    /// most 512 of them may nest.
    public static var plist: Serializer {
        Serializer(
            .plist, encode: { try PropertyListCoding.encode($0) },
            decode: { try PropertyListCoding.decode(Value.self, from: $0) })
    }

    /// The app's own pair of functions. `decode` may keep the `Data` that it receives.
    public static func custom(
        encode: @escaping @Sendable (Value) throws -> Data,
        decode: @escaping @Sendable (Data) throws -> Value
    ) -> Serializer {
        Serializer(.custom, encode: encode, decode: decode)
    }
}

extension Serializer where Value == Data {
    /// The bytes as they are.
    public static var data: Serializer { Serializer(.data, encode: { $0 }, decode: { $0 }) }
}

extension Serializer where Value == String {
    /// The text itself in UTF-8, for keys that other programs read or write: `secret-tool`, git, a shell.
    public static var text: Serializer {
        Serializer(
            .text, encode: { Data($0.utf8) },
            decode: {
                guard let text = String(validating: $0, as: UTF8.self) else { throw TextFault() }
                return text
            })
    }
}

extension Serializer {
    /// The bytes for a value.
    ///
    /// - Throws: `StorageError.serializationFailed` with the encoder's reason.
    public func encode(_ value: Value) throws(StorageError) -> Data {
        do { return try encodeAction(value) } catch {
            let failure = CodingFailure(error)
            throw StorageError(
                .serializationFailed,
                "\(withArticle(Value.self)) could not be encoded as \(format): \(failure)",
                hint: format == .plist && failure.isAtTop
                    ? "a property list is a list or an object: put the value into one, or choose the serializer json"
                    : "")
        }
    }

    /// The value for bytes.
    ///
    /// - Throws: `StorageError.deserializationFailed` with the position of the mismatch, what was expected and the kind
    ///   of what was found, but not the bytes.
    @inlinable @inline(__always)
    public func decode(_ data: Data) throws(StorageError) -> Value {
        do { return try decodeAction(data) } catch { throw failure(decoding: data, error) }
    }

    @usableFromInline
    func failure(decoding data: Data, _ error: any Error) -> StorageError {
        let failure = CodingFailure(error, in: data, as: format) { _ = try decodeAction($0) }
        return StorageError(
            .deserializationFailed,
            "\(data.count) stored bytes are not \(withArticle(Value.self)) in \(format): \(failure)",
            hint: "the stored bytes are untouched; read them with another type, or write the key again")
    }
}

/// A pair of coders of the app's own.
struct JSONCoders: Sendable {
    let encoder: JSONEncoder
    let decoder: JSONDecoder
}

/// Bytes that should be UTF-8 but are not.
struct TextFault: CodingFault { var account: String { "they are not UTF-8" } }
