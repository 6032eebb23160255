internal import CSodium
internal import LocalDataAPI

/// HKDF-SHA256, RFC 5869, over libsodium's HMAC.
enum HKDF {
    private static let size = Int(crypto_auth_hmacsha256_BYTES)

    static func derive(from secret: RawSpan, salt: RawSpan, info: RawSpan, into key: inout MutableRawSpan) {
        key.withUnsafeMutableBytes { key in
            secret.withUnsafeBytes { secret in
                salt.withUnsafeBytes { salt in
                    info.withUnsafeBytes { derive(from: secret, salt, $0, into: key) }
                }
            }
        }
    }

    private static func derive(
        from secret: UnsafeRawBufferPointer, _ salt: UnsafeRawBufferPointer, _ info: UnsafeRawBufferPointer,
        into key: UnsafeMutableRawBufferPointer
    ) {
        let stateSize = MemoryLayout<crypto_auth_hmacsha256_state>.stride
        withUnsafeTemporaryAllocation(byteCount: stateSize + 2 * size, alignment: 16) { work in
            defer { sodium_memzero(work.bytePointer, work.count) }
            guard let base = work.baseAddress else { return }
            let state = base.initializeMemory(as: crypto_auth_hmacsha256_state.self, repeating: .init(), count: 1)
            let pseudorandom = UnsafeMutableRawBufferPointer(start: base + stateSize, count: size)
            let block = UnsafeMutableRawBufferPointer(start: base + stateSize + size, count: size)
            func add(_ bytes: UnsafeRawBufferPointer) {
                crypto_auth_hmacsha256_update(state, bytes.bytePointer, UInt64(bytes.count))
            }
            crypto_auth_hmacsha256_init(state, salt.bytePointer, salt.count)
            add(secret)
            crypto_auth_hmacsha256_final(state, pseudorandom.bytePointer)
            var number: UInt8 = 0
            var done = 0
            while done < key.count {
                number += 1
                crypto_auth_hmacsha256_init(state, pseudorandom.bytePointer, pseudorandom.count)
                if done > 0 { add(UnsafeRawBufferPointer(block)) }
                add(info)
                withUnsafeBytes(of: number) { add($0) }
                crypto_auth_hmacsha256_final(state, block.bytePointer)
                let count = min(size, key.count - done)
                (key.bytePointer + done).update(from: block.bytePointer, count: count)
                done += count
            }
        }
    }
}
