internal import LocalDataAPI
internal import Synchronization

/// The configured crypto provider, opened once, at its first use.
final class CryptoSlot: Sendable {
    private let open: @Sendable () throws(StorageError) -> LoadedCrypto
    private let opened = Mutex<LoadedCrypto?>(nil)

    init(open: @escaping @Sendable () throws(StorageError) -> LoadedCrypto) { self.open = open }

    /// Opens the provider if it is not open. May wait; the next call retries after a failure.
    func openIfNeeded() throws(StorageError) -> LoadedCrypto {
        try opened.withLock { opened throws(StorageError) in
            if let crypto = opened { return crypto }
            let crypto = try open()
            try crypto.require(KeyDerivationFunction.hkdfSHA256.rawValue, "\(KeyDerivationFunction.hkdfSHA256)")
            try crypto.checkKnownAnswers()
            opened = crypto
            return crypto
        }
    }
}
