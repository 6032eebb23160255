internal import LocalDataHost

/// A component that was opened to ask what it declares.
enum OpenComponent {
    case store(LoadedStore)
    case provider(LoadedCrypto)

    func close() {
        switch self {
        case .store(let store): store.close()
        case .provider(let provider): provider.close()
        }
    }
}
