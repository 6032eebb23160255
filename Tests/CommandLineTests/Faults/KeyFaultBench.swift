/// A home in which one operation on sealed values or keys can be tried again and again from the same state, under the
/// fault injector.
final class KeyFaultBench {
    let operation: KeyOperation
    let home: KeyHome
    /// The keys before the operation.
    let keysBefore: [KeyHome.Key]
    let disturbed: DisturbedHome

    init(_ operation: KeyOperation) throws {
        self.operation = operation
        let home = try KeyHome(isEmpty: operation.isHomeEmpty)
        self.home = home
        keysBefore = try home.keys(of: operation.store)
        disturbed = try DisturbedHome(
            home.home, operation.words.map { $0 == "SPARE" ? home.spare : $0 }, input: operation.input)
    }

    /// The remains of incomplete changes: files without a name, their intents, and keys of no store.
    func debris() throws -> [Substring] {
        let ending = try home.home.shell("ls config/localdata/keys")
        return try disturbed.debris() + ending.text.split(separator: "\n").filter { $0 != "\(KeyHome.store).key" }
    }
}
