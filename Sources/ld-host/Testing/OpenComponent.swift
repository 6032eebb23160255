internal import LocalDataHost

/// An open component, for querying what it declares.
enum OpenComponent {
    case store(LoadedStore)
    case provider(LoadedCrypto)
    case pack(LoadedPack)

    func close() {
        switch self {
        case .store(let store): store.close()
        case .provider(let provider): provider.close()
        case .pack(let pack): pack.close()
        }
    }
}
