internal import CLocalData
internal import Glibc
internal import HostGround
internal import LocalDataAPI
internal import Synchronization

/// The sinks that a call lends to a component, in memory that outlives every call and is never freed.
///
/// Each thread has a slot for each of its nested calls. The context that a component receives is not an address but a
/// number: slot, component and generation. If a component uses a sink after its call or on another thread, the number
/// belongs to no call that runs there. So the host notices the misuse and touches nothing. Entering takes no lock, and
/// allocates nothing once a thread has its slot.
struct CallSlot: ~Copyable {
    /// What a call's sinks receive.
    enum Receiver: UInt8 {
        case nothing, value, revisioned, pieces, source, attributes, values, conflicts, records
    }

    private let index: UInt
    private let thread = Atomic<UInt>(0)
    /// The number of the running call; 0 if none is running.
    private let context = Atomic<UInt>(0)
    private var generation: UInt = 0
    private var inner: UnsafeMutablePointer<CallSlot>?
    private let errorSink: UnsafeMutablePointer<ld_error_sink>
    private let valueSink: UnsafeMutablePointer<ld_sink>
    private let pieceSource: UnsafeMutablePointer<ld_source>
    private var kind = Receiver.nothing
    /// On the call's stack.
    private(set) var receiver: UnsafeMutableRawPointer?
    private var function: UnsafePointer<UInt8>?

    /// Whether the call got no report, broke no rule and was not asked to stop.
    private(set) var isPlain = true
    /// Whether a sink or source asked the component to stop.
    var wasStopped = false { didSet { isPlain = false } }
    private(set) var reports: [StorageError] = []
    /// The first reported number that is no error code.
    private(set) var invalidCode: Int32?
    private(set) var fault: String?
    private var signalStack = SignalStack()

    private init(index: UInt) {
        self.index = index
        errorSink = .allocate(capacity: 1)
        errorSink.initialize(
            to: ld_error_sink(size: UInt32(MemoryLayout<ld_error_sink>.size), context: nil, report: takeReport))
        valueSink = .allocate(capacity: 1)
        valueSink.initialize(to: ld_sink(size: UInt32(MemoryLayout<ld_sink>.size), context: nil, write: nil))
        pieceSource = .allocate(capacity: 1)
        pieceSource.initialize(
            to: ld_source(size: UInt32(MemoryLayout<ld_source>.size), context: nil, read: givePiece))
    }

    var error: UnsafePointer<ld_error_sink> { UnsafePointer(errorSink) }
    var sink: UnsafePointer<ld_sink> { UnsafePointer(valueSink) }
    var source: UnsafePointer<ld_source> { UnsafePointer(pieceSource) }
    /// The context for functions that take one in place of a sink.
    var number: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: context.load(ordering: .relaxed)) }

    /// Records the first rule that the component broke, and asks it to stop.
    mutating func reportViolation(_ what: @autoclosure () -> String) {
        fault = fault ?? what()
        wasStopped = true
    }

    fileprivate mutating func take(_ report: StorageError) {
        isPlain = false
        if reports.count < 2 { reports.append(report) }
    }

    fileprivate mutating func noteInvalid(_ code: Int32) { invalidCode = invalidCode ?? code }

    /// Clears the record of the last call.
    mutating func clear() {
        wasStopped = false
        reports = []
        invalidCode = nil
        fault = nil
        isPlain = true
    }
}

// MARK: - Entering and leaving

extension CallSlot {
    private static let slotBits: UInt = 16
    private static let componentBits: UInt = 14

    /// Lends this thread's next slot to a call.
    @inline(__always)
    static func enter(
        _ site: CallSite, _ kind: Receiver, _ receiver: UnsafeMutableRawPointer?
    ) -> UnsafeMutablePointer<CallSlot> {
        let slot = next()
        slot.pointee.begin(site, kind, receiver)
        return slot
    }

    @inline(__always)
    private mutating func begin(_ site: CallSite, _ kind: Receiver, _ receiver: UnsafeMutableRawPointer?) {
        generation &+= 1
        let component = site.component & (1 << Self.componentBits - 1)
        let number =
            generation << (Self.slotBits + Self.componentBits) | component << Self.slotBits | index
        let pointer = UnsafeMutableRawPointer(bitPattern: number)
        errorSink.pointee.context = pointer
        valueSink.pointee.context = pointer
        valueSink.pointee.write =
            switch kind {
            case .value: takeValue
            case .records: takePosition
            default: takePiece
            }
        pieceSource.pointee.context = pointer
        self.kind = kind
        self.receiver = receiver
        function = site.function.utf8Start
        context.store(number, ordering: .relaxed)
    }

    /// Ends the call: from now on its sinks are invalid.
    @inline(__always)
    func leave() { context.store(0, ordering: .relaxed) }

    /// The thread's next unused slot.
    @inline(__always)
    private static func next() -> UnsafeMutablePointer<CallSlot> {
        if let slot = CallTable.first, slot.pointee.context.load(ordering: .relaxed) == 0 {
            return slot
        }
        return nextInside()
    }

    @inline(never)
    private static func nextInside() -> UnsafeMutablePointer<CallSlot> {
        guard var slot = CallTable.first else {
            let first = adopt()
            pthread_setspecific(CallTable.key.load(ordering: .relaxed), first)
            first.pointee.signalStack.provide()
            return first
        }
        while slot.pointee.context.load(ordering: .relaxed) != 0 {
            if slot.pointee.inner == nil { slot.pointee.inner = adopt() }
            guard let inner = slot.pointee.inner else { break }
            slot = inner
        }
        return slot
    }

    /// Reserves what calls need, before the first one.
    ///
    /// - Throws: `busy` if the process has no thread-specific key left; see pthread_key_create(3).
    static func reserve() throws(StorageError) {
        guard !CallTable.idle.withLock({ _ in CallTable.prepare() }) else { return }
        throw StorageError(
            .busy, "this process has no thread-specific key left, which calls into plugins need",
            hint: "open fewer libraries in this process: it has used all \(PTHREAD_KEYS_MAX) keys")
    }

    /// A slot that belongs to no thread; waits if there are more calls at once than slots.
    private static func adopt() -> UnsafeMutablePointer<CallSlot> {
        ExitGuard.arm()
        FatalSignals.arm()
        CallWatch.arm()
        while true {
            let found: Int? = CallTable.idle.withLock { idle in
                guard CallTable.prepare() else { return nil }
                if let index = idle.popLast() { return index }
                let index = CallTable.made.load(ordering: .relaxed)
                guard index < CallTable.capacity, let slot = CallTable.slot(index) else { return nil }
                slot.initialize(to: CallSlot(index: UInt(index)))
                CallTable.made.store(index + 1, ordering: .releasing)
                return index
            }
            if let slot = found.flatMap({ CallTable.slot($0) }) {
                slot.pointee.thread.store(UInt(pthread_self()), ordering: .relaxed)
                return slot
            }
            sched_yield()
        }
    }

    /// Releases the slots of a thread that ends.
    fileprivate static func giveBack(_ first: UnsafeMutablePointer<CallSlot>) {
        first.pointee.signalStack.withdraw()
        var next: UnsafeMutablePointer<CallSlot>? = first
        while let slot = next {
            next = slot.pointee.inner
            slot.pointee.inner = nil
            // A component may have ended the thread during a call.
            slot.pointee.leave()
            slot.pointee.clear()
            slot.pointee.thread.store(0, ordering: .relaxed)
            let index = Int(slot.pointee.index)
            CallTable.idle.withLock { $0.append(index) }
        }
    }
}

// MARK: - Finding the call of a sink

extension CallSlot {
    /// The slot of a context's call, if the call runs on this thread and receives this kind of data; otherwise the
    /// misuse is logged.
    static func running(
        _ context: UnsafeMutableRawPointer?, _ kind: Receiver? = nil
    ) -> UnsafeMutablePointer<CallSlot>? {
        let number = UInt(bitPattern: context)
        let index = Int(number & (1 << slotBits - 1))
        guard index < CallTable.made.load(ordering: .acquiring), let slot = CallTable.slot(index) else {
            noteMisuse(number, "used a sink with an invalid context")
            return nil
        }
        guard slot.pointee.context.load(ordering: .relaxed) == number else {
            noteMisuse(number, "used a sink after its call had returned")
            return nil
        }
        guard slot.pointee.thread.load(ordering: .relaxed) == UInt(pthread_self()) else {
            noteMisuse(number, "used a sink on a thread other than its call's")
            return nil
        }
        guard let kind, slot.pointee.kind != kind else { return slot }
        slot.pointee.reportViolation("it used a sink of another call")
        return nil
    }

    @inline(never)
    private static func noteMisuse(_ number: UInt, _ what: String) {
        // An invented number does not identify its maker, but the running call does.
        let component =
            innermost?.component ?? ComponentIdentity.numbered(number >> slotBits & (1 << componentBits - 1))
        component?.logMisuse(what)
    }

    /// The component and the function of the innermost call that runs on this thread.
    static var innermost: (component: ComponentIdentity, function: String)? {
        guard let call = innermostNumber, let component = ComponentIdentity.numbered(call.component) else { return nil }
        return (component, call.function.map { String(cString: $0) } ?? "")
    }

    /// The same for the handler of a signal: takes no lock and no memory.
    static var innermostText: (component: UnsafePointer<CChar>?, function: UnsafePointer<UInt8>?)? {
        guard let call = innermostNumber else { return nil }
        return (ComponentIdentity.text(ofNumber: call.component), call.function)
    }

    /// A call that runs at this moment, perhaps on another thread.
    struct Running {
        let number: UInt
        fileprivate let slot: UnsafeMutablePointer<CallSlot>

        var component: ComponentIdentity? { .numbered(number >> slotBits & (1 << componentBits - 1)) }
        /// `nil` if the call has ended.
        var function: String? {
            let function = slot.pointee.function.map { String(cString: $0) }
            return slot.pointee.context.load(ordering: .relaxed) == number ? function : nil
        }
    }

    /// Passes all calls that run at this moment.
    static func forEachRunning(_ body: (Running) -> Void) {
        for index in 0..<CallTable.made.load(ordering: .acquiring) {
            guard let slot = CallTable.slot(index) else { continue }
            let number = slot.pointee.context.load(ordering: .relaxed)
            if number != 0 { body(Running(number: number, slot: slot)) }
        }
    }

    private static var innermostNumber: (component: UInt, function: UnsafePointer<UInt8>?)? {
        var found: (UInt, UnsafePointer<UInt8>?)?
        var next = CallTable.first
        while let slot = next {
            let number = slot.pointee.context.load(ordering: .relaxed)
            guard number != 0 else { break }
            found = (number >> slotBits & (1 << componentBits - 1), slot.pointee.function)
            next = slot.pointee.inner
        }
        return found
    }
}

private func takeReport(context: UnsafeMutableRawPointer?, code: Int32, message: ld_bytes, hint: ld_bytes) {
    guard let slot = CallSlot.running(context) else { return }
    slot.pointee.take(StorageError(StorageError.Code.reported(code), message.lenientText, hint: hint.lenientText))
    if code <= 0 { slot.pointee.noteInvalid(code) }
}

/// The location of all slots. It uses numbers instead of pointers, and no initializer that every use would have to
/// check.
private enum CallTable {
    static let capacity = 1 << 16
    /// The address of the first slot. Space for all is reserved; a page is only committed once its slots are used.
    static let start = Atomic<UInt>(0)
    /// The number of slots.
    static let made = Atomic<Int>(0)
    /// The key of the thread-specific first slot.
    static let key = Atomic<UInt32>(.max)
    /// Slots of threads that have ended.
    static let idle = Mutex<[Int]>([])

    /// The slot with a number below ``made``.
    @inline(__always)
    static func slot(_ index: Int) -> UnsafeMutablePointer<CallSlot>? {
        UnsafeMutablePointer<CallSlot>(bitPattern: start.load(ordering: .relaxed)).map { $0 + index }
    }

    /// The thread's first slot; `nil` if it has none yet.
    @inline(__always)
    static var first: UnsafeMutablePointer<CallSlot>? {
        pthread_getspecific(key.load(ordering: .relaxed))?.assumingMemoryBound(to: CallSlot.self)
    }

    /// Reserves the memory and the key, once; `idle` is locked. `false` if there is no key.
    static func prepare() -> Bool {
        guard start.load(ordering: .relaxed) == 0 else { return true }
        var key = pthread_key_t()
        let failure = pthread_key_create(&key) { slot in
            if let slot { CallSlot.giveBack(slot.assumingMemoryBound(to: CallSlot.self)) }
        }
        guard failure == 0 else { return false }
        self.key.store(key, ordering: .relaxed)
        let slots = UnsafeMutablePointer<CallSlot>.allocate(capacity: capacity)
        start.store(UInt(bitPattern: slots), ordering: .releasing)
        return true
    }
}
