internal import COpenSSL
internal import LocalDataPluginAPI

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
