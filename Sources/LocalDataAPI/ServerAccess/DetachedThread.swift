internal import Glibc

/// Threads for calls that may wait for a server.
public enum DetachedThread {
    /// Runs `body` on a new thread, which ends with it.
    ///
    /// - Returns: 0, or the system's error if there is no thread; then `body` does not run.
    public static func start(_ body: @escaping @Sendable () -> Void) -> CInt {
        let argument = Unmanaged.passRetained(Body(body)).toOpaque()
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runBody, argument)
        if code == 0 { pthread_detach(thread) } else { Unmanaged<Body>.fromOpaque(argument).release() }
        return code
    }
}

private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func runBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
    return nil
}
