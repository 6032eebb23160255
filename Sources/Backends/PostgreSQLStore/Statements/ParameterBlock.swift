internal import CPostgreSQL

/// The parameters of one call as libpq takes them, all binary. The memory serves the next call, too.
struct ParameterBlock {
    /// Everything that is not lent; it is not empty, because libpq takes no address for NULL.
    private var buffer: [UInt8] = [0]
    private var starts: [Int] = []
    private var values: [UnsafePointer<CChar>?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// The bytes of the parameters that were filled in last.
    private(set) var size = 0

    /// Lends the parameters of a call.
    mutating func lend<Result>(
        _ parameters: [Parameter],
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        fill(parameters)
        if formats.count < parameters.count { formats = Array(repeating: 1, count: parameters.count) }
        values.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        size = 0
        return buffer.withUnsafeBytes { buffer in
            let base = buffer.baseAddress
            for (index, parameter) in parameters.enumerated() {
                let end = index + 1 < starts.count ? starts[index + 1] : buffer.count
                var (start, count) = (base.map { $0 + starts[index] }, end - starts[index])
                switch parameter {
                case .null: start = nil
                case .lent(let bytes): (start, count) = (bytes.baseAddress ?? base, bytes.count)
                default: break
                }
                values.append(start?.assumingMemoryBound(to: CChar.self))
                lengths.append(Int32(clamping: count))
                size += count
            }
            return body(Int32(parameters.count), values, lengths, formats)
        }
    }

    /// Writes what is not lent into the buffer.
    private mutating func fill(_ parameters: [Parameter]) {
        buffer.removeAll(keepingCapacity: true)
        buffer.append(0)
        starts.removeAll(keepingCapacity: true)
        for parameter in parameters {
            starts.append(buffer.count)
            switch parameter {
            case .null, .lent: break
            case .integer(let number): withUnsafeBytes(of: number.bigEndian) { buffer.append(contentsOf: $0) }
            case .short(let number): withUnsafeBytes(of: number.bigEndian) { buffer.append(contentsOf: $0) }
            case .bytes(let bytes): buffer.append(contentsOf: bytes)
            case .text(let text): buffer.append(contentsOf: text.utf8)
            }
        }
    }
}
