import Synchronization

/// Records reports, such as those of a watch, in order and from any thread, and can wait for one.
package final class Recorder<Element: Sendable>: Sendable {
    private typealias Waiting = (isLast: @Sendable (Element) -> Bool, gate: Gate)
    private let state = Mutex<(elements: [Element], waiting: Waiting?)>(([], nil))

    package init() {}

    /// The reports that have not been taken.
    package var all: [Element] { state.withLock { $0.elements } }

    package func add(_ element: Element) {
        state.withLock { state in
            state.elements.append(element)
            guard let waiting = state.waiting, waiting.isLast(element) else { return }
            state.waiting = nil
            waiting.gate.open()
        }
    }

    /// Takes the reports up to and including a certain one, and waits for that one: after two minutes it returns `nil`.
    /// Only one thread may wait at a time.
    package func take(through isLast: @escaping @Sendable (Element) -> Bool) -> [Element]? {
        let gate = Gate()
        state.withLock { state in
            if state.elements.contains(where: isLast) { gate.open() } else { state.waiting = (isLast, gate) }
        }
        gate.wait()
        return state.withLock { state in
            state.waiting = nil
            guard let last = state.elements.firstIndex(where: isLast) else { return nil }
            defer { state.elements.removeFirst(last + 1) }
            return Array(state.elements[...last])
        }
    }
}
