internal import LocalDataAPI
internal import Synchronization

/// The configured crypto provider, opened when it is first needed, once.
final class CryptoSlot: Sendable {
    private let open: @Sendable () throws(StorageError) -> LoadedCrypto
    private let opened = Mutex<LoadedCrypto?>(nil)

    init(open: @escaping @Sendable () throws(StorageError) -> LoadedCrypto) { self.open = open }

    /// Opens the provider if it is not open. May wait; a failure is not remembered.
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
