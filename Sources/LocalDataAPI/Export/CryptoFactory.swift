internal import CLocalData
internal import FoundationEssentials

/// Opens a provider of one Swift type; a crypto component's `context` points to it.
class AnyCryptoFactory {
    func open(options: ld_bytes, host: UnsafePointer<ld_host>?) throws -> UnsafePointer<ld_crypto> {
        throw StorageError(.unsupported)
    }
}

final class CryptoFactory<Provider: CryptoProvider>: AnyCryptoFactory {
    override func open(options: ld_bytes, host: UnsafePointer<ld_host>?) throws -> UnsafePointer<ld_crypto> {
        let options = try ComponentOptions(json: Data(options.bytes()))
        return try CryptoExport(Provider(options: options, host: HostServices(host))).table
    }
}

func openCrypto(
    context: UnsafeMutableRawPointer?, host: UnsafePointer<ld_host>?, options: ld_bytes,
    table: UnsafeMutablePointer<UnsafeRawPointer?>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let context, let table else { throw StorageError(.unsupported, "open was called without a context") }
        let factory = Unmanaged<AnyCryptoFactory>.fromOpaque(context).takeUnretainedValue()
        table.pointee = UnsafeRawPointer(try factory.open(options: options, host: host))
        return LD_OK
    }
}
