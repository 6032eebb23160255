internal import CLinux
internal import Glibc
package import LocalDataAPI

/// Runs `body` on a new thread. For work that callers wait for while they hold all threads of the pool.
///
/// - Throws: `busy` if the system provides no thread; then `body` does not run.
package func onOwnThread(_ body: @escaping @Sendable () -> Void) throws(StorageError) {
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

/// A counting semaphore with a monotonic deadline, on which idle threads wait.
package final class IdleSemaphore: @unchecked Sendable {
    // The semaphore has a fixed address as long as this object lives, and its functions are thread-safe.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    package init() {
        semaphore.initialize(to: sem_t())
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    package func signal() { sem_post(semaphore) }

    /// Waits for a signal; `false` if none came in time.
    package func wait(for duration: Duration) -> Bool {
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        let (seconds, attoseconds) = duration.components
        let nanoseconds = deadline.tv_nsec + Int(attoseconds / 1_000_000_000)
        deadline.tv_sec += Int(clamping: min(seconds, 1 << 31)) + nanoseconds / 1_000_000_000
        deadline.tv_nsec = nanoseconds % 1_000_000_000
        while ld_linux_sem_wait_until(semaphore, &deadline) != 0 {
            if errno != EINTR { return false }
        }
        return true
    }

    package func waitForever() {
        while sem_wait(semaphore) != 0 && errno == EINTR {}
    }
}

/// A first-in, first-out queue, in constant time on average.
struct WorkQueue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        defer {
            elements[head] = nil
            head += 1
            if head == elements.count {
                elements.removeAll(keepingCapacity: true)
                head = 0
            } else if head > 64, head * 2 > elements.count {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }
}
