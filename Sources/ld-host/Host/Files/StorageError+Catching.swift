internal import LocalDataAPI

/// Runs code that throws any error, and converts it to a `StorageError` that keeps its description.
func storageErrors<Value>(_ body: () throws -> Value) throws(StorageError) -> Value {
    do {
        return try body()
    } catch let error as StorageError {
        throw error
    } catch {
        throw StorageError(.unknown, "\(error)")
    }
}
