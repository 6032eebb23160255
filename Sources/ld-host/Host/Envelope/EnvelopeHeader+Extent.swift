internal import LocalDataAPI

extension EnvelopeHeader {
    /// The number of chunks and of value bytes after this header in an envelope of a size; `nil` if no envelope can
    /// have that size.
    package func extent(of sealedSize: UInt64) -> (chunks: Int, value: Int)? {
        guard let total = Int(exactly: sealedSize), total >= encoded.count else { return nil }
        let (body, tagSize) = (total - encoded.count, cipher.tagSize)
        let full = chunkSize + tagSize
        let count = body / full + (body % full == 0 ? 0 : 1)
        let last = body - (count - 1) * full
        // Only an empty value has a last chunk without plaintext.
        guard count > 0, last >= tagSize, last > tagSize || count == 1 else { return nil }
        return (count, body - count * tagSize)
    }
}
