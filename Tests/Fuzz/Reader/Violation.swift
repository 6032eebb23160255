/// A promise that a reader of outside bytes did not keep.
package struct Violation: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Ends an exercise unless a promise was kept.
package func require(_ isKept: Bool, _ promise: @autoclosure () -> String) throws(Violation) {
    guard isKept else { throw Violation(promise()) }
}
