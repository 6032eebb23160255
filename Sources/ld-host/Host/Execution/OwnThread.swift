internal import CLinux
internal import Glibc
internal import LocalDataAPI

/// Runs `body` on a new thread. For work that callers wait for while they hold all threads of the pool.
///
/// - Throws: `busy` if the system provides no thread; then `body` does not run.
func onOwnThread(_ body: @escaping @Sendable () -> Void) throws(StorageError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let context = Unmanaged.passRetained(ThreadBody(body))
    var thread = pthread_t()
    let code = pthread_create(&thread, &attributes, runThreadBody, context.toOpaque())
    guard code == 0 else {
        context.release()
        throw StorageError(
            .busy, "the system provides no thread: \(String(cString: strerror(code)))", hint: "try again later")
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func runThreadBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run() }
    return nil
}
