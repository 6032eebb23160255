internal import LocalDataAPI

/// Runs code that throws anything and lets only `StorageError` out; another error keeps its description.
func storageErrors<Value>(_ body: () throws -> Value) throws(StorageError) -> Value {
    do {
        return try body()
    } catch let error as StorageError {
        throw error
    } catch {
        throw StorageError(.unknown, "\(error)")
    }
}
