internal import DurableFiles
internal import Glibc
package import LocalDataAPI
internal import Synchronization

/// The side of the one who switches a store.
extension SwitchGate {
    /// Moves the gate, as long as it lives; then the gate is open.
    package struct Keeper: ~Copyable {
        fileprivate let gate: SwitchGate
        fileprivate let stores: GatedStores
        // Until it is gone nobody works on whole stores of the state folder.
        fileprivate let alone: SteadyLock.Hold

        /// Lets all writers note what they change, and waits for those that do not.
        ///
        /// - Throws: `busy` if one does not end in time.
        package borrowing func track(within limit: Duration) throws(StorageError) {
            try gate.move(to: .tracked, stores, within: limit)
        }

        /// Waits for all changes that began before, also those of a switch that was given up.
        fileprivate borrowing func settle(within limit: Duration) throws(StorageError) {
            // A wait covers every second step only.
            for _ in 0..<2 { try gate.move(to: .open, stores, within: limit) }
        }

        /// Holds all writers, and waits for those inside.
        ///
        /// - Throws: `busy` if one does not end in time. Then all go on, and note what they change.
        package borrowing func close(within limit: Duration) throws(StorageError) {
            do throws(StorageError) { try gate.move(to: .closed, stores, within: limit) } catch {
                gate.step(to: .tracked, stores)
                throw error
            }
        }

        /// Runs `body`, whose changes the closed gate lets pass.
        package borrowing func working<Result>(
            _ body: () throws(StorageError) -> Result
        ) throws(StorageError) -> Result {
            gate.setOuterPass(Pass(0, parity: 0, isTracked: true))
            defer { gate.setOuterPass(nil) }
            return try body()
        }

        /// Lets the writers go on, and note nothing any more. Those that waited first look at the configuration.
        package borrowing func open() { gate.step(to: .open, stores) }

        deinit {
            gate.step(to: .open, stores)
            gate.isOwn.store(false, ordering: .releasing)
            gate.page.letGo(byte: SwitchGate.ownerByte)
        }
    }

    /// Takes over the gate, once others who switch are done.
    ///
    /// - Parameters:
    ///   - stores: Those whose writers it will hold.
    ///   - folder: The state folder whose stores nobody works on as a whole meanwhile.
    ///   - limit: How long others may switch or work on whole stores, and how long changes may take that are under way.
    /// - Throws: `busy` if that takes longer.
    package func keep(
        _ stores: GatedStores, in folder: String, within limit: Duration
    ) throws(StorageError) -> Keeper {
        let end = ContinuousClock.now + limit
        let alone = try steady.hold(SteadyLock.scope(of: folder), alone: true, until: end) {
            let isSwitching = $0 == head.pointee.owner.load(ordering: .relaxed)
            return StorageError(
                .busy,
                "process \($0) is "
                    + (isSwitching
                        ? "switching a store" : "migrating, copying, saving, restoring or examining stores"),
                hint: "wait until it is done")
        }
        var pause = LockPause(from: 100, to: 20_000)
        while !take() {
            guard ContinuousClock.now < end else {
                throw StorageError(
                    .busy, "process \(head.pointee.owner.load(ordering: .relaxed)) is switching a store",
                    hint: "wait until it is done")
            }
            pause.take()
        }
        head.pointee.owner.store(getpid(), ordering: .relaxed)
        let keeper = Keeper(gate: self, stores: stores, alone: alone)
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
    private func step(to mode: Mode, _ stores: GatedStores) -> Step {
        let former = Step(word: head.pointee.word.load(ordering: .acquiring))
        // Only the keeper moves it, and the writer that opens it after a killed one.
        head.pointee.word.store(former.next(mode, for: stores).word, ordering: .sequentiallyConsistent)
        return former
    }

    /// - Throws: `busy` if a change does not end in time.
    private func move(to mode: Mode, _ stores: GatedStores, within limit: Duration) throws(StorageError) {
        let former = step(to: mode, stores)
        let end = ContinuousClock.now + limit
        var pause = LockPause(from: 10, to: 1000)
        while let process = writer(of: former, stores) {
            guard ContinuousClock.now < end else {
                throw StorageError(
                    .busy, "process \(process) has been changing a store for more than \(limit); nothing was changed",
                    hint: "try again when it has ended")
            }
            pause.take()
        }
    }

    /// A process with a change of one of the stores under way that began in a step of the gate, or an even number of
    /// steps before.
    private func writer(of step: Step, _ stores: GatedStores) -> Int32? {
        for number in 0..<Self.slots {
            let slot = slot(number)
            let isChanging = (0..<GatedStores.count).contains { store in
                stores.contains(store) && slot[store << 1 | step.parity].load(ordering: .sequentiallyConsistent) != 0
            }
            // A killed program has none under way.
            guard isChanging, ownSlot == slot || page.isTakenByOther(byte: Self.byte(ofSlot: number)) else { continue }
            return process(ofSlot: number).pointee.load(ordering: .relaxed)
        }
        return nil
    }
}
