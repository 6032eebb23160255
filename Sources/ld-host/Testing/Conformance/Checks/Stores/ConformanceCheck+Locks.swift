internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let locks: [ConformanceCheck] = [
        ConformanceCheck("lock.exclusive", "a lock has one holder at a time", if: .lock) { store in
            guard let held = try store.store.lock("single", in: store.place, waiting: .zero) else {
                throw ConformanceFailure("a free lock was not granted")
            }
            try expect(try store.store.isHeld(held), "a lock that was just taken is not held")
            let second = Flag()
            let isDone = try store.elsewhere {
                guard let lock = try store.store.lock("single", in: store.place, waiting: .milliseconds(20)) else {
                    return
                }
                second.raise()
                try store.store.unlock(lock)
            }
            try expect(isDone, "waiting for a lock took longer than requested")
            try expect(!second.isRaised, "a lock has two holders")
            try store.store.unlock(held)
            guard let next = try store.store.lock("single", in: store.place, waiting: .zero) else {
                throw ConformanceFailure("a released lock was not granted")
            }
            try store.store.unlock(next)
        },
        ConformanceCheck("lock.waits", "a call that waits for a lock gets it when its holder releases it", if: .lock) {
            store in
            guard let held = try store.store.lock("a", in: store.place, waiting: .zero) else {
                throw ConformanceFailure("a free lock was not granted")
            }
            let (begun, taken) = (Gate(), Flag())
            let waiter = try Worker {
                begun.open()
                guard let lock = try store.store.lock("a", in: store.place, waiting: .seconds(30)) else { return }
                taken.raise()
                try store.store.unlock(lock)
            }
            begun.wait()
            _ = try waiter.finishes(within: .milliseconds(50))
            let wasEarly = taken.isRaised
            try store.store.unlock(held)
            try waiter.join()
            try expect(!wasEarly, "a lock has two holders")
            try expect(taken.isRaised, "a lock was released, and the waiting caller did not get it")
        },
        ConformanceCheck("lock.names", "locks of different names or namespaces are independent", if: .lock) { store in
            let places = [store.place, store.place("-other")]
            var held: [StoreLock] = []
            for place in places {
                for name in ["a", "A", "a\u{e9}", "ae\u{301}"] {
                    guard let lock = try store.store.lock(name, in: place, waiting: .zero) else {
                        throw ConformanceFailure("the lock '\(name)' in '\(place)' is not free")
                    }
                    held.append(lock)
                }
            }
            for lock in held { try store.store.unlock(lock) }
        },
    ]
}
