internal import CSodium
internal import LocalDataPluginAPI

/// HKDF, RFC 5869, over libsodium's HMAC.
enum HKDF<HMAC: SodiumHMAC> {
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
        let (size, stateSize) = (HMAC.size, MemoryLayout<HMAC.State>.stride)
        withUnsafeTemporaryAllocation(byteCount: stateSize + 2 * size, alignment: 16) { work in
            defer { sodium_memzero(work.bytePointer, work.count) }
            guard let base = work.baseAddress else { return }
            let state = base.initializeMemory(as: HMAC.State.self, repeating: HMAC.empty, count: 1)
            let pseudorandom = UnsafeMutableRawBufferPointer(start: base + stateSize, count: size)
            let block = UnsafeMutableRawBufferPointer(start: base + stateSize + size, count: size)
            HMAC.start(state, key: salt)
            HMAC.add(secret, to: state)
            HMAC.finish(state, into: pseudorandom.bytePointer)
            var number: UInt8 = 0
            var done = 0
            while done < key.count {
                number += 1
                HMAC.start(state, key: UnsafeRawBufferPointer(pseudorandom))
                if done > 0 { HMAC.add(UnsafeRawBufferPointer(block), to: state) }
                HMAC.add(info, to: state)
                withUnsafeBytes(of: number) { HMAC.add($0, to: state) }
                HMAC.finish(state, into: block.bytePointer)
                let count = min(size, key.count - done)
                (key.bytePointer + done).update(from: block.bytePointer, count: count)
                done += count
            }
        }
    }
}
