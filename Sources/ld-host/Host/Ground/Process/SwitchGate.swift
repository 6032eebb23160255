internal import DurableFiles
internal import Glibc
package import LocalDataAPI
internal import Synchronization

/// Holds the writers of all programs of a user for the moment in which a domain goes over to another store.
///
/// Every change of a store passes it, and costs two additions to memory that other programs seldom touch. A program has
/// a slot of the shared page with the numbers of its changes that are under way. The process that switches a store
/// first lets all writers note what they change (`track`), later closes the gate and waits for those inside (`close`),
/// and opens it. What a killed program has left of this counts for nothing: each slot, and the place of the process
/// that switches, is a lock of the page's file that ends with its process.
///
/// The numbers are kept twice: changes that begin from one step of the gate on are counted apart from those before it,
/// so that the wait for the former ones ends although others come.
package final class SwitchGate: Sendable {
    /// The gate of the programs of this user.
    package static let ofUser = SwitchGate(.ofUser)

    /// What writers have to do.
    package enum Mode: UInt64, Sendable {
        /// Nothing.
        case open
        /// Note what they change before they change it.
        case tracked
        /// Wait.
        case closed
    }

    /// A step of the gate: its mode, and how many there were before.
    private struct Step: Equatable {
        let word: UInt64

        init(word: UInt64) { self.word = word }

        init(_ number: UInt64, _ mode: Mode) { word = number << 2 | mode.rawValue }

        var number: UInt64 { word >> 2 }
        var mode: Mode { Mode(rawValue: word & 3) ?? .open }
        var parity: Int { Int(number & 1) }

        func next(_ mode: Mode) -> Step { Step(number &+ 1, mode) }
    }

    private struct Head: ~Copyable {
        let word = Atomic<UInt64>(0)
        /// The process that switches, for messages.
        let owner = Atomic<Int32>(0)
        /// The last one that began to work on whole stores, for messages.
        let worker = Atomic<Int32>(0)
    }

    /// The changes of one program, in a cache line of its own.
    private struct Slot: ~Copyable {
        let even = Atomic<Int>(0)
        let odd = Atomic<Int>(0)
        /// The program, for messages.
        let process = Atomic<Int32>(0)

        @inline(__always)
        func add(_ count: Int, parity: Int) {
            // Adding that looks for an overflow takes a loop.
            if parity == 0 {
                even.wrappingAdd(count, ordering: .sequentiallyConsistent)
            } else {
                odd.wrappingAdd(count, ordering: .sequentiallyConsistent)
            }
        }

        func number(parity: Int) -> Int {
            parity == 0
                ? even.load(ordering: .sequentiallyConsistent) : odd.load(ordering: .sequentiallyConsistent)
        }
    }

    /// A change that is under way.
    package struct Pass: Sendable {
        fileprivate let parity: Int
        /// Whether the change has to be noted before it is made; see ``ChangeLog``.
        package let isTracked: Bool
    }

    private let page: SharedPage
    // They stay mapped, and their members are atomic.
    nonisolated(unsafe) private let head: UnsafeMutablePointer<Head>
    /// The address of this program's slot; 0 before its first change.
    private let slot = Atomic<UInt>(0)
    private let claiming = Mutex(())
    /// The pass of the changes that a thread is making together.
    private let outer: pthread_key_t
    /// Whether a thread of this program switches: its own lock does not show to itself.
    private let isOwn = Atomic(false)
    /// This program's work on whole stores.
    private let steady = Mutex(Steady())

    init(_ page: SharedPage) {
        self.page = page
        head = page.content(at: Self.headOffset, as: Head.self)
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        outer = key
    }

    /// Whether it holds the writers of other programs, too.
    package var isShared: Bool { page.isShared }

    private static let headOffset = 64
    private static let firstSlot = 4096
    private static let slotSize = 64
    private static let slots = (SharedPage.size - firstSlot) / slotSize
    /// The byte whose lock the one who switches has.
    private static let ownerByte = 0
    /// The byte whose lock those have who work on whole stores, together, or the one who switches.
    private static let steadyByte = 1
}

/// Work on whole stores, such as a backup. What it has listed would be missing after a switch, so they exclude each
/// other.
extension SwitchGate {
    private struct Steady {
        /// How many work together.
        var works = 0
        var isAlone = false
    }

    /// Runs work on whole stores, none of which is switched meanwhile.
    ///
    /// - Throws: `busy` if a switch takes too long; what `body` throws.
    package func steadily<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        let work = try steadyWork()
        defer { withExtendedLifetime(work) {} }
        return try body()
    }

    /// Work on whole stores; ends with its last reference.
    package final class SteadyWork: Sendable {
        private let gate: SwitchGate

        fileprivate init(_ gate: SwitchGate) { self.gate = gate }

        deinit { gate.endSteadily() }
    }

    /// Begins such work. May wait.
    ///
    /// - Parameter limit: How long it waits.
    /// - Throws: `busy` if a switch takes too long.
    package func steadyWork(within limit: Duration = steadyPatience) throws(StorageError) -> SteadyWork {
        let end = ContinuousClock.now + limit
        var pause = LockPause(from: 100, to: 20_000)
        while !beginSteadily(alone: false) {
            guard ContinuousClock.now < end else { throw switching }
            pause.take()
        }
        return SteadyWork(self)
    }

    /// How long such work waits for a switch, unless it says so.
    package static let steadyPatience = Duration.seconds(30)

    /// - Parameter alone: Whether it is the switch, which waits for all work.
    private func beginSteadily(alone: Bool) -> Bool {
        let hasBegun = steady.withLock { steady in
            guard !steady.isAlone, !alone || steady.works == 0 else { return false }
            guard steady.works > 0 || page.take(byte: Self.steadyByte, shared: !alone) else { return false }
            if alone { steady.isAlone = true } else { steady.works += 1 }
            return true
        }
        if hasBegun { head.pointee.worker.store(getpid(), ordering: .relaxed) }
        return hasBegun
    }

    private func endSteadily() {
        steady.withLock { steady in
            if steady.isAlone { steady.isAlone = false } else { steady.works -= 1 }
            if steady.works == 0 { page.letGo(byte: Self.steadyByte) }
        }
    }

    private var switching: StorageError {
        StorageError(
            .busy, "process \(head.pointee.owner.load(ordering: .relaxed)) is switching a store",
            hint: "wait until it is done")
    }

    private var working: StorageError {
        StorageError(
            .busy,
            "process \(head.pointee.worker.load(ordering: .relaxed)) is migrating, copying, saving, restoring or "
                + "examining stores", hint: "wait until it is done")
    }
}

/// The writers' side.
extension SwitchGate {
    /// Begins a change. May wait for a switch.
    ///
    /// - Throws: `busy` if the gate stays closed, with the process that has closed it.
    @inline(__always)
    package func enter() throws(StorageError) -> Pass {
        if let slot = ownSlot, let pass = enter(slot) { return pass }
        return try enterSlowly()
    }

    /// Ends a change.
    @inline(__always)
    package func leave(_ pass: Pass) {
        ownSlot?.pointee.add(-1, parity: pass.parity)
    }

    @inline(__always)
    private var ownSlot: UnsafeMutablePointer<Slot>? {
        UnsafeMutablePointer(bitPattern: slot.load(ordering: .acquiring))
    }

    /// The pass of the changes that this thread is making together.
    @inline(__always)
    package var outerPass: Pass? {
        guard let raw = pthread_getspecific(outer) else { return nil }
        let bits = UInt(bitPattern: raw)
        return Pass(parity: Int(bits >> 1 & 1), isTracked: bits >> 2 & 1 == 1)
    }

    /// Sets it; `nil` at their end.
    package func setOuterPass(_ pass: Pass?) {
        let bits = pass.map { UInt(1) | UInt($0.parity) << 1 | ($0.isTracked ? 4 : 0) }
        pthread_setspecific(outer, bits.flatMap { UnsafeRawPointer(bitPattern: $0) })
    }

    /// Runs `body`, whose changes belong together: no store is switched between them. A lock under which stores are
    /// changed is taken in it, so that nobody who waits for a switch has the lock.
    @inline(__always)
    package func inside<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        if outerPass != nil { return try body() }
        let pass = try enter()
        setOuterPass(pass)
        defer {
            setOuterPass(nil)
            leave(pass)
        }
        return try body()
    }

    /// - Returns: `nil` if the gate is closed, or moves at this moment.
    @inline(__always)
    private func enter(_ slot: UnsafeMutablePointer<Slot>) -> Pass? {
        let step = Step(word: head.pointee.word.load(ordering: .acquiring))
        guard step.mode != .closed else { return nil }
        slot.pointee.add(1, parity: step.parity)
        // The keeper reads the slots after it has moved the gate: one of the two sees the other.
        if head.pointee.word.load(ordering: .sequentiallyConsistent) == step.word {
            return Pass(parity: step.parity, isTracked: step.mode == .tracked)
        }
        slot.pointee.add(-1, parity: step.parity)
        return nil
    }

    private func enterSlowly() throws(StorageError) -> Pass {
        let slot = try claimedSlot()
        let start = ContinuousClock.now
        var pause = LockPause(from: 50, to: 1000)
        while true {
            if let pass = enter(slot) { return pass }
            openIfLeft()
            guard ContinuousClock.now - start < Self.patience else {
                throw StorageError(
                    .busy,
                    "process \(head.pointee.owner.load(ordering: .relaxed)) is switching a store, and has held back "
                        + "changes for \(Self.patience)",
                    hint: "let it continue, or end it; then try again")
            }
            if Step(word: head.pointee.word.load(ordering: .acquiring)).mode == .closed { pause.take() }
        }
    }

    /// How long a writer waits at a closed gate.
    private static let patience = Duration.seconds(10)

    /// Opens the gate if the process that moved it is gone.
    ///
    /// - Returns: Whether it is gone.
    @discardableResult
    package func openIfLeft() -> Bool {
        let step = Step(word: head.pointee.word.load(ordering: .acquiring))
        guard step.mode != .open, !isOwn.load(ordering: .acquiring), !page.isTakenByOther(byte: Self.ownerByte) else {
            return false
        }
        // It may have written the line of configuration, and ended before it said so.
        ConfigurationPage(page).noteAnything()
        _ = head.pointee.word.compareExchange(
            expected: step.word, desired: step.next(.open).word, ordering: .sequentiallyConsistent)
        return true
    }

    private func claimedSlot() throws(StorageError) -> UnsafeMutablePointer<Slot> {
        try claiming.withLock { (_) throws(StorageError) in
            if let slot = ownSlot { return slot }
            let first = Int(getpid()) % Self.slots
            for index in 0..<Self.slots {
                let number = (first + index) % Self.slots
                guard page.take(byte: Self.firstSlot + number) else { continue }
                let slot = page.content(at: Self.firstSlot + number * Self.slotSize, as: Slot.self)
                // What a killed program has left.
                slot.pointee.even.store(0, ordering: .sequentiallyConsistent)
                slot.pointee.odd.store(0, ordering: .sequentiallyConsistent)
                slot.pointee.process.store(getpid(), ordering: .relaxed)
                self.slot.store(UInt(bitPattern: slot), ordering: .releasing)
                return slot
            }
            throw StorageError(
                .busy, "\(Self.slots) programs of this user change stores at this moment, which is the most",
                hint: "end some of them")
        }
    }
}

/// The side of the one who switches a store.
extension SwitchGate {
    /// Moves the gate, as long as it lives; then the gate is open.
    package struct Keeper: ~Copyable {
        fileprivate let gate: SwitchGate
        /// Whether nobody works on whole stores.
        fileprivate var isAlone = false

        /// Lets all writers note what they change, and waits for those that do not.
        ///
        /// - Throws: `busy` if one does not end in time.
        package borrowing func track(within limit: Duration) throws(StorageError) {
            try gate.move(to: .tracked, within: limit)
        }

        /// Waits for all changes that began before, also those of a switch that was given up.
        fileprivate borrowing func settle(within limit: Duration) throws(StorageError) {
            // A wait covers every second step only.
            for _ in 0..<2 { try gate.move(to: .open, within: limit) }
        }

        /// Holds all writers, and waits for those inside.
        ///
        /// - Throws: `busy` if one does not end in time. Then all go on, and note what they change.
        package borrowing func close(within limit: Duration) throws(StorageError) {
            do throws(StorageError) { try gate.move(to: .closed, within: limit) } catch {
                gate.step(to: .tracked)
                throw error
            }
        }

        /// Runs `body`, whose changes the closed gate lets pass.
        package borrowing func working<Result>(
            _ body: () throws(StorageError) -> Result
        ) throws(StorageError) -> Result {
            gate.setOuterPass(Pass(parity: 0, isTracked: true))
            defer { gate.setOuterPass(nil) }
            return try body()
        }

        /// Lets the writers go on, and note nothing any more. Those that waited first look at the configuration.
        package borrowing func open() { gate.step(to: .open) }

        deinit {
            gate.step(to: .open)
            if isAlone { gate.endSteadily() }
            gate.isOwn.store(false, ordering: .releasing)
            gate.page.letGo(byte: SwitchGate.ownerByte)
        }
    }

    /// Takes over the gate, once others who switch are done.
    ///
    /// - Parameter limit: How long others may switch or work on whole stores, and how long changes may take that are
    ///   under way.
    /// - Throws: `busy` if that takes longer.
    package func keep(within limit: Duration) throws(StorageError) -> Keeper {
        let end = ContinuousClock.now + limit
        var pause = LockPause(from: 100, to: 20_000)
        while !take() {
            guard ContinuousClock.now < end else { throw switching }
            pause.take()
        }
        head.pointee.owner.store(getpid(), ordering: .relaxed)
        var keeper = Keeper(gate: self)
        while !beginSteadily(alone: true) {
            guard ContinuousClock.now < end else { throw working }
            pause.take()
        }
        keeper.isAlone = true
        try keeper.settle(within: limit)
        return keeper
    }

    /// Whether nobody else has the gate, so that this thread has it now.
    private func take() -> Bool {
        let isFree = isOwn.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
        guard isFree, !page.take(byte: Self.ownerByte) else { return isFree }
        isOwn.store(false, ordering: .releasing)
        return false
    }

    @discardableResult
    private func step(to mode: Mode) -> Step {
        let former = Step(word: head.pointee.word.load(ordering: .acquiring))
        // Only the keeper moves it, and the writer that opens it after a killed one.
        head.pointee.word.store(former.next(mode).word, ordering: .sequentiallyConsistent)
        return former
    }

    /// - Throws: `busy` if a change does not end in time.
    private func move(to mode: Mode, within limit: Duration) throws(StorageError) {
        let former = step(to: mode)
        let end = ContinuousClock.now + limit
        var pause = LockPause(from: 10, to: 1000)
        while let process = writer(of: former) {
            guard ContinuousClock.now < end else {
                throw StorageError(
                    .busy, "process \(process) has been changing a store for more than \(limit); nothing was changed",
                    hint: "try again when it has ended")
            }
            pause.take()
        }
    }

    /// A process with a change under way that began in a step of the gate, or an even number of steps before.
    private func writer(of step: Step) -> Int32? {
        for number in 0..<Self.slots {
            let slot = page.content(at: Self.firstSlot + number * Self.slotSize, as: Slot.self)
            guard slot.pointee.number(parity: step.parity) != 0 else { continue }
            // A killed program has none under way.
            guard ownSlot == slot || page.isTakenByOther(byte: Self.firstSlot + number) else { continue }
            return slot.pointee.process.load(ordering: .relaxed)
        }
        return nil
    }
}
