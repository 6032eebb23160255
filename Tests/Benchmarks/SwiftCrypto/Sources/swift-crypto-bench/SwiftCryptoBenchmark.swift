internal import Crypto
internal import FoundationEssentials
internal import Glibc

/// Makes swift-crypto's one-shot calls. Reads lines "seal CIPHER SIZE COUNT" and "open CIPHER SIZE COUNT" from standard
/// input and answers each with the nanoseconds of processor time of one call, as `Baselines/aead.c` does.
@main
struct SwiftCryptoBenchmark {
    private static let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
    private static let nonce = [UInt8](repeating: 9, count: 12)

    static func main() throws {
        while let line = readLine() {
            let words = line.split(separator: " ")
            guard words.count == 4, let size = Int(words[2]), let count = Int(words[3]) else {
                throw Failure(description: "no order: '\(line)'")
            }
            print(try measure(String(words[0]), String(words[1]), Data(repeating: 5, count: size), count))
            fflush(nil)
        }
    }

    private static func measure(_ action: String, _ cipher: String, _ plain: Data, _ count: Int) throws -> Double {
        switch cipher {
        case "aes-256-gcm":
            let nonce = try AES.GCM.Nonce(data: nonce)
            let box = try AES.GCM.seal(plain, using: key, nonce: nonce)
            return try each(action, count, plain.count) {
                try AES.GCM.seal(plain, using: key, nonce: nonce).ciphertext.count
            } open: {
                try AES.GCM.open(box, using: key).count
            }
        case "chacha20-poly1305":
            let nonce = try ChaChaPoly.Nonce(data: nonce)
            let box = try ChaChaPoly.seal(plain, using: key, nonce: nonce)
            return try each(action, count, plain.count) {
                try ChaChaPoly.seal(plain, using: key, nonce: nonce).ciphertext.count
            } open: {
                try ChaChaPoly.open(box, using: key).count
            }
        default: throw Failure(description: "no such cipher: '\(cipher)'")
        }
    }

    @inline(__always)
    private static func each(
        _ action: String, _ count: Int, _ size: Int, seal: () throws -> Int, open: () throws -> Int
    ) throws -> Double {
        var bytes = 0
        let start = processorTime
        if action == "seal" {
            for _ in 0..<count { bytes += try seal() }
        } else {
            for _ in 0..<count { bytes += try open() }
        }
        let time = processorTime - start
        guard bytes == count * size else { throw Failure(description: "swift-crypto gave \(bytes) bytes") }
        return time / Double(count)
    }

    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}
