import Glibc

/// Runs `body` on so many new threads at once, and returns when all are done.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (_ thread: Int) -> Void) {
    final class Start {
        let index: Int
        let body: @Sendable (Int) -> Void
        init(_ index: Int, _ body: @escaping @Sendable (Int) -> Void) {
            self.index = index
            self.body = body
        }
    }
    var threads: [pthread_t] = []
    for index in 0..<count {
        var thread = pthread_t()
        let start = Unmanaged.passRetained(Start(index, body)).toOpaque()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                start.body(start.index)
                return nil
            }, start)
        precondition(result == 0, "no thread: \(result)")
        threads.append(thread)
    }
    for thread in threads { pthread_join(thread, nil) }
}
