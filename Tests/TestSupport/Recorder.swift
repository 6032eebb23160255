import Synchronization

/// What was reported, such as to a watch, in order and from any thread; and a way to wait for it.
package final class Recorder<Element: Sendable>: Sendable {
    private typealias Waiting = (isLast: @Sendable (Element) -> Bool, gate: Gate)
    private let state = Mutex<(elements: [Element], waiting: Waiting?)>(([], nil))

    package init() {}

    /// What was reported and not taken.
    package var all: [Element] { state.withLock { $0.elements } }

    package func add(_ element: Element) {
        state.withLock { state in
            state.elements.append(element)
            guard let waiting = state.waiting, waiting.isLast(element) else { return }
            state.waiting = nil
            waiting.gate.open()
        }
    }

    /// Takes what was reported up to and including an element, and waits for that if it is not there yet: two minutes
    /// at most, then it is `nil`. One thread waits at a time.
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
