internal import LocalDataAPI

extension LoadedStore {
    func lacks(_ ability: String) -> StorageError {
        StorageError(.unsupported, "the store does not offer \(ability)", hint: "map the domain to a store that does")
    }

    func checkSize(_ count: Int) throws(StorageError) {
        guard let largest = properties.largestValue, count > largest else { return }
        throw StorageError(
            .valueTooLarge, "the value has \(count) bytes; the store accepts at most \(largest)",
            hint: "map the domain to a store for large values")
    }
}
