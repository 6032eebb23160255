/// Bytes that arrive in pieces, collected in memory that is cleared before it is freed.
struct GatheredBytes: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer
    private var count = 0

    init() { memory = .allocate(byteCount: Self.pieceSize, alignment: 16) }

    deinit {
        clear(memory)
        memory.deallocate()
    }

    /// The bytes; valid until more are added.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// Adds the bytes that `fill` writes into a buffer; `fill` returns their number.
    ///
    /// - Returns: Whether there were any.
    mutating func add(from fill: (UnsafeMutableRawBufferPointer) throws -> Int) throws -> Bool {
        if memory.count - count < Self.pieceSize { grow() }
        let given = try fill(UnsafeMutableRawBufferPointer(rebasing: memory[count...].prefix(Self.pieceSize)))
        count += given
        return given > 0
    }

    private mutating func grow() {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * memory.count, alignment: 16)
        larger.copyMemory(from: bytes)
        clear(memory)
        memory.deallocate()
        memory = larger
    }

    /// The most bytes requested at once.
    private static let pieceSize = 256 << 10
}
