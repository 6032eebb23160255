internal import DurableFiles
internal import Glibc
package import LocalDataAPI
internal import Synchronization

/// Holds the writers of all programs of a user for the moment in which a domain goes over to another store.
///
/// Every change of a store passes it, and costs two additions to memory that other programs seldom touch. A program has
/// a slot of the shared page with the numbers of its changes that are under way, for each store. The process that
/// switches first lets all writers of its stores note what they change (`track`), later closes the gate and waits for
/// those inside (`close`), and opens it. What a killed program has left of this counts for nothing: each slot, and the
/// place of the process that switches, is a lock of the page's file that ends with its process.
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

    /// A step of the gate: its mode, for which stores, and how many steps there were before.
    struct Step: Equatable {
        let word: UInt64

        init(word: UInt64) { self.word = word }

        private init(_ number: UInt64, _ stores: GatedStores, _ mode: Mode) {
            word = number << 34 | UInt64(stores.bits) << 2 | mode.rawValue
        }

        var mode: Mode { Mode(rawValue: word & 3) ?? .open }
        /// Which of the two numbers counts the changes that begin in it.
        var parity: Int { Int(word >> 34 & 1) }

        /// Whether the mode holds for changes with a number of stores.
        @inline(__always)
        func concerns(_ store: Int) -> Bool { word >> (2 + store) & 1 == 1 }

        func next(_ mode: Mode, for stores: GatedStores) -> Step { Step(word >> 34 &+ 1, stores, mode) }
    }

    struct Head: ~Copyable {
        let word = Atomic<UInt64>(0)
        /// The process that switches, for messages.
        let owner = Atomic<Int32>(0)
    }

    /// The numbers of changes of one program: an even and an odd one for each of the ``GatedStores``.
    typealias Slot = UnsafeMutablePointer<Atomic<Int32>>

    /// A change that is under way.
    package struct Pass: Sendable {
        /// Where in the slot it is counted.
        let place: Int
        /// Whether the change has to be noted before it is made; see ``ChangeLog``.
        package let isTracked: Bool

        init(_ store: Int, parity: Int, isTracked: Bool) {
            (place, self.isTracked) = (store << 1 | parity, isTracked)
        }

        fileprivate init(bits: UInt) { (place, isTracked) = (Int(bits >> 2), bits >> 1 & 1 == 1) }

        fileprivate var bits: UInt { UInt(place) << 2 | (isTracked ? 2 : 0) | 1 }
    }

    let page: SharedPage
    // They stay mapped, and their members are atomic.
    nonisolated(unsafe) let head: UnsafeMutablePointer<Head>
    /// The address of this program's slot; 0 before its first change.
    private let slot = Atomic<UInt>(0)
    private let claiming = Mutex(())
    /// The pass of the changes that a thread is making together.
    private let outer: pthread_key_t
    /// Whether a thread of this program switches: its own lock does not show to itself.
    let isOwn = Atomic(false)
    /// Keeps switches and work on whole stores apart.
    let steady: SteadyLock

    init(_ page: SharedPage) {
        self.page = page
        steady = SteadyLock(page)
        head = page.content(at: Self.headOffset, as: Head.self)
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        outer = key
    }

    /// Whether it holds the writers of other programs, too.
    package var isShared: Bool { page.isShared }

    private static let headOffset = 64
    /// Where the processes of the slots are, for messages.
    private static let processes = 4096
    private static let firstSlot = 8192
    private static let slotSize = 2 * GatedStores.count * MemoryLayout<Int32>.size
    /// How many programs can have one.
    static let slots = (SharedPage.size - firstSlot) / slotSize
    /// The byte whose lock the one who switches has.
    static let ownerByte = 0

    /// The byte whose lock the program with a slot has.
    static func byte(ofSlot number: Int) -> Int { firstSlot + number }

    func slot(_ number: Int) -> Slot {
        page.content(at: Self.firstSlot + number * Self.slotSize, as: Atomic<Int32>.self)
    }

    func process(ofSlot number: Int) -> UnsafeMutablePointer<Atomic<Int32>> {
        page.content(at: Self.processes, as: Atomic<Int32>.self) + number
    }
}

/// Stores as the ``SwitchGate`` counts their changes: each has one of 32 numbers, which others may have, too. Number 0
/// counts changes whose stores are not known when they begin.
package struct GatedStores: Sendable {
    static let count = 32

    let bits: UInt32

    private init(bits: UInt32) { self.bits = bits | 1 }

    /// Stores by their identities.
    package init(_ identities: some Sequence<UInt64>) {
        self.init(bits: identities.reduce(0) { $0 | 1 << UInt32(Self.number(of: $1)) })
    }

    /// The number of a store, by its identity.
    @inline(__always)
    static func number(of identity: UInt64) -> Int { Int(identity & UInt64(count - 1)) }

    func contains(_ store: Int) -> Bool { bits >> store & 1 == 1 }
}

/// The writers' side.
extension SwitchGate {
    /// Begins a change. May wait for a switch.
    ///
    /// - Parameter store: The identity of the store; 0 if it is not known yet.
    /// - Throws: `busy` if the gate stays closed, with the process that has closed it.
    @inline(__always)
    package func enter(_ store: UInt64) throws(StorageError) -> Pass {
        let store = GatedStores.number(of: store)
        if let slot = ownSlot, let pass = enter(slot, store) { return pass }
        return try enterSlowly(store)
    }

    /// Ends a change.
    @inline(__always)
    package func leave(_ pass: Pass) {
        if let slot = ownSlot { Self.add(-1, to: slot, pass.place) }
    }

    @inline(__always)
    var ownSlot: Slot? { Slot(bitPattern: slot.load(ordering: .acquiring)) }

    @inline(__always)
    private static func add(_ count: Int32, to slot: Slot, _ place: Int) {
        // Adding that looks for an overflow takes a loop.
        slot[place].wrappingAdd(count, ordering: .sequentiallyConsistent)
    }

    /// The pass of the changes that this thread is making together.
    @inline(__always)
    package var outerPass: Pass? {
        pthread_getspecific(outer).map { Pass(bits: UInt(bitPattern: $0)) }
    }

    /// Sets it; `nil` at their end.
    package func setOuterPass(_ pass: Pass?) {
        pthread_setspecific(outer, pass.flatMap { UnsafeRawPointer(bitPattern: $0.bits) })
    }

    /// Runs `body`, whose changes belong together: no store is switched between them. A lock under which stores are
    /// changed is taken in it, so that nobody who waits for a switch has the lock.
    @inline(__always)
    package func inside<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        if outerPass != nil { return try body() }
        let pass = try enter(0)
        setOuterPass(pass)
        defer {
            setOuterPass(nil)
            leave(pass)
        }
        return try body()
    }

    /// - Returns: `nil` if the gate is closed for the store, or moves at this moment.
    @inline(__always)
    private func enter(_ slot: Slot, _ store: Int) -> Pass? {
        let step = Step(word: head.pointee.word.load(ordering: .acquiring))
        guard step.mode != .closed || !step.concerns(store) else { return nil }
        let pass = Pass(store, parity: step.parity, isTracked: step.mode == .tracked && step.concerns(store))
        Self.add(1, to: slot, pass.place)
        // The keeper reads the slots after it has moved the gate: one of the two sees the other.
        if head.pointee.word.load(ordering: .sequentiallyConsistent) == step.word { return pass }
        Self.add(-1, to: slot, pass.place)
        return nil
    }

    private func enterSlowly(_ store: Int) throws(StorageError) -> Pass {
        let slot = try claimedSlot()
        let start = ContinuousClock.now
        var pause = LockPause(from: 50, to: 1000)
        while true {
            if let pass = enter(slot, store) { return pass }
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
            expected: step.word, desired: step.next(.open, for: GatedStores([])).word, ordering: .sequentiallyConsistent
        )
        return true
    }

    private func claimedSlot() throws(StorageError) -> Slot {
        try claiming.withLock { (_) throws(StorageError) in
            if let slot = ownSlot { return slot }
            let first = Int(getpid()) % Self.slots
            for index in 0..<Self.slots {
                let number = (first + index) % Self.slots
                guard page.take(byte: Self.byte(ofSlot: number)) else { continue }
                let slot = slot(number)
                // What a killed program has left.
                for place in 0..<2 * GatedStores.count { slot[place].store(0, ordering: .sequentiallyConsistent) }
                process(ofSlot: number).pointee.store(getpid(), ordering: .relaxed)
                self.slot.store(UInt(bitPattern: slot), ordering: .releasing)
                return slot
            }
            throw StorageError(
                .busy, "\(Self.slots) programs of this user change stores at this moment, which is the most",
                hint: "end some of them")
        }
    }
}
