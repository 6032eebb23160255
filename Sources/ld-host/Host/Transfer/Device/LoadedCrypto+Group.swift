package import HostPlugins
internal import HostSync
package import LocalDataAPI

extension LoadedCrypto: GroupProvider {
    package func deriveHKDF(
        from secret: UnsafeRawBufferPointer, salt: UnsafeRawBufferPointer, info: UnsafeRawBufferPointer,
        into key: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        try derive(.hkdfSHA256, from: secret, salt: salt, info: info, into: key)
    }
}
