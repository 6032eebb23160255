internal import CSodium
internal import LocalDataPluginAPI

/// PBKDF2, RFC 8018, over libsodium's HMAC, since libsodium lacks PBKDF2.
///
/// The passphrase is hashed into a state once, and each iteration copies that state, so an iteration is two blocks of
/// the hash.
enum PBKDF2<HMAC: SodiumHMAC> {
    static func derive(
        from passphrase: RawSpan, salt: RawSpan, iterations: UInt64, into key: inout MutableRawSpan
    ) {
        key.withUnsafeMutableBytes { key in
            passphrase.withUnsafeBytes { passphrase in
                salt.withUnsafeBytes { derive(from: passphrase, $0, iterations, into: key) }
            }
        }
    }

    private static func derive(
        from passphrase: UnsafeRawBufferPointer, _ salt: UnsafeRawBufferPointer, _ iterations: UInt64,
        into key: UnsafeMutableRawBufferPointer
    ) {
        let (size, stateSize) = (HMAC.size, MemoryLayout<HMAC.State>.stride)
        withUnsafeTemporaryAllocation(byteCount: 2 * stateSize + 2 * size, alignment: 16) { work in
            defer { sodium_memzero(work.bytePointer, work.count) }
            guard let base = work.baseAddress else { return }
            let started = base.initializeMemory(as: HMAC.State.self, repeating: HMAC.empty, count: 1)
            let state = (base + stateSize).initializeMemory(as: HMAC.State.self, repeating: HMAC.empty, count: 1)
            let code = UnsafeMutableRawBufferPointer(start: base + 2 * stateSize, count: size)
            let sum = UnsafeMutableRawBufferPointer(start: base + 2 * stateSize + size, count: size)
            HMAC.start(started, key: passphrase)
            var number: UInt32 = 0
            var done = 0
            while done < key.count {
                number += 1
                state.update(from: started, count: 1)
                HMAC.add(salt, to: state)
                withUnsafeBytes(of: number.bigEndian) { HMAC.add($0, to: state) }
                HMAC.finish(state, into: code.bytePointer)
                sum.copyMemory(from: UnsafeRawBufferPointer(code))
                for _ in 1..<max(1, iterations) {
                    state.update(from: started, count: 1)
                    HMAC.add(UnsafeRawBufferPointer(code), to: state)
                    HMAC.finish(state, into: code.bytePointer)
                    mix(code, into: sum)
                }
                let count = min(size, key.count - done)
                (key.bytePointer + done).update(from: sum.bytePointer, count: count)
                done += count
            }
        }
    }

    /// In words of 8 bytes; both sizes are multiples of 8.
    @inline(__always)
    private static func mix(_ code: UnsafeMutableRawBufferPointer, into sum: UnsafeMutableRawBufferPointer) {
        for offset in stride(from: 0, to: code.count, by: 8) {
            let word = code.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let mixed = word ^ sum.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            sum.storeBytes(of: mixed, toByteOffset: offset, as: UInt64.self)
        }
    }
}
