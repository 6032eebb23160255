internal import LocalDataAPI

/// Makes a call that may wait: here, if this thread may, on an I/O thread otherwise.
func onIOThread<Value: Sendable>(
    _ call: @escaping @Sendable () throws(StorageError) -> Value
) async throws(StorageError) -> Value {
    if IOExecutor.isCurrent { return try call() }
    let result: Result<Value, StorageError> = await withCheckedContinuation { continuation in
        IOExecutor.shared.submit { continuation.resume(returning: Result { () throws(StorageError) in try call() }) }
    }
    return try result.get()
}
