internal import FoundationEssentials
internal import LocalDataAPI

/// A value that is stored under a key.
struct ExerciseValue: Sendable {
    let key: AnyStorageKey
    let data: Data

    init<Value>(_ key: StorageKey<Value>, _ value: Value) throws(StorageError) {
        self.key = AnyStorageKey(key)
        data = try key.serializer.encode(value)
    }

    /// The key's address, in the ledger's form.
    var address: String { key.exerciseAddress }
}

extension ExerciseValue {
    /// The form of the value in reports.
    var shown: Data { data.exerciseShown }
}

extension Data {
    /// The bytes; for a long value, its size and a digest.
    var exerciseShown: Data {
        guard count > 4096 else { return self }
        // By words: a campaign shows large values some ten thousand times.
        let sum = withUnsafeBytes { bytes in
            var sum: UInt64 = 0
            func add(_ word: UInt64) { sum = ((sum ^ word) &* 0x9E37_79B9_7F4A_7C15).byteSwapped }
            for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
                add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            for byte in bytes.suffix(bytes.count % 8) { add(UInt64(byte)) }
            return sum
        }
        return Data("\(count) bytes, \(String(sum, radix: 16))".utf8)
    }
}

extension AnyStorageKey {
    /// The address, in the ledger's form.
    var exerciseAddress: String { "\(descriptor.domain)/\(descriptor.name)" }
}
