internal import LocalDataAPI

/// Makes a call that may wait and handle secrets: on this thread if it may wait, otherwise on an I/O thread.
func onIOThread<Value: Sendable>(
    _ call: @escaping @Sendable () throws(StorageError) -> Value
) async throws(StorageError) -> Value {
    if IOExecutor.isCurrent { return try MemorySecrecy.clearingStack(call) }
    let result: Result<Value, StorageError> = await withCheckedContinuation { continuation in
        IOExecutor.shared.submit {
            let result = Result { () throws(StorageError) in try MemorySecrecy.clearingStack(call) }
            continuation.resume(returning: result)
        }
    }
    return try result.get()
}
