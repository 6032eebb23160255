import LocalDataAPI
import Synchronization
import Testing

@Suite struct KeyResolutionSlotTests {
    /// A resolution that counts its instances.
    private final class Counted: Sendable {
        let snapshot: UInt
        private let alive: Alive

        init(_ snapshot: UInt, _ alive: Alive) {
            self.snapshot = snapshot
            self.alive = alive
            alive.add(1)
        }

        deinit { alive.add(-1) }
    }

    private final class Alive: Sendable {
        private let number = Atomic<Int>(0)
        var count: Int { number.load(ordering: .relaxed) }
        func add(_ change: Int) { number.add(change, ordering: .relaxed) }
    }

    @Test("the newest resolution of a snapshot is found, and nothing for a snapshot that was never added")
    func finds() {
        let (slot, alive) = (KeyResolutionSlot(), Alive())
        #expect(slot.resolution(for: 0)?.takeUnretainedValue() == nil)
        let (one, two, newer) = (Counted(1, alive), Counted(2, alive), Counted(1, alive))
        slot.add(one, for: 1)
        slot.add(two, for: 2)
        #expect(slot.resolution(for: 1)?.takeUnretainedValue() === one)
        slot.add(newer, for: 1)
        #expect(slot.resolution(for: 1)?.takeUnretainedValue() === newer)
        #expect(slot.resolution(for: 2)?.takeUnretainedValue() === two)
        #expect(slot.resolution(for: 3)?.takeUnretainedValue() == nil)
    }

    @Test(
        "eight tasks add and find at once; nothing is lost, and all of it goes with the slot", .timeLimit(.minutes(1)))
    func concurrent() async {
        let alive = Alive()
        do {
            let slot = KeyResolutionSlot()
            await withTaskGroup(of: Void.self) { group in
                for task in UInt(1)...8 {
                    group.addTask {
                        for round in UInt(0)..<250 {
                            let resolution = Counted(task * 1000 + round, alive)
                            slot.add(resolution, for: resolution.snapshot)
                            #expect(slot.resolution(for: resolution.snapshot)?.takeUnretainedValue() === resolution)
                            let other = slot.resolution(for: (task % 8 + 1) * 1000 + round)?.takeUnretainedValue()
                            #expect(other == nil || (other as? Counted)?.snapshot == (task % 8 + 1) * 1000 + round)
                        }
                    }
                }
            }
            #expect(alive.count == 2000)
            for task in UInt(1)...8 {
                for round in UInt(0)..<250 {
                    #expect(slot.resolution(for: task * 1000 + round)?.takeUnretainedValue() != nil)
                }
            }
        }
        #expect(alive.count == 0)
    }

    @Test("a key, its copies and its untyped form share one slot; another key has its own")
    func sharing() {
        let key = StorageKey<Int>(name: "k", domain: .userDefaults(), owner: "tests", description: "a key")
        let copy = key
        #expect(copy.slot === key.slot)
        #expect(AnyStorageKey(key).slot === key.slot)
        let twin = StorageKey<Int>(name: "k", domain: .userDefaults(), owner: "tests", description: "a key")
        #expect(twin.slot !== key.slot)
    }
}
