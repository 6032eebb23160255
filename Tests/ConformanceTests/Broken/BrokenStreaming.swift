import FoundationEssentials
import LocalDataAPI
import LocalDataTesting

enum BrokenStreaming {
    typealias Source = ((RawSpan) throws -> Void) throws -> Void

    final class LosesTheLastByte: CorrectStore, @unchecked Sendable {
        override func write(_ key: StorageAddress, attributes: ValueAttributes?, from source: Source) throws {
            var pieces: [Data] = []
            try source { piece in piece.withUnsafeBytes { pieces.append(Data($0)) } }
            if pieces.count > 1, pieces.last?.count == 1, pieces[0].count > 100_000 { pieces.removeLast() }
            try super.write(key, attributes: attributes) { take in for piece in pieces { try take(piece.bytes) } }
        }
    }

    final class SwapsPieces: CorrectStore, @unchecked Sendable {
        override func read(_ key: StorageAddress, _ body: (RawSpan) -> Bool) throws -> Bool {
            guard try attributes(of: key)?.size == 200_001 else { return try super.read(key, body) }
            var pieces: [Data] = []
            _ = try super.read(key) { piece in
                piece.withUnsafeBytes { pieces.append(Data($0)) }
                return true
            }
            pieces.swapAt(1, 2)
            for piece in pieces where !body(piece.bytes) { break }
            return true
        }
    }

    final class ReadsNoneAsEmpty: CorrectStore, @unchecked Sendable {
        override func read(_ key: StorageAddress, _ body: (RawSpan) -> Bool) throws -> Bool {
            _ = try super.read(key, body)
            return true
        }
    }

    final class DropsAttributes: CorrectStore, @unchecked Sendable {
        override func write(_ key: StorageAddress, attributes: ValueAttributes?, from source: Source) throws {
            try super.write(key, attributes: nil, from: source)
        }
    }

    final class GivesOnePiece: CorrectStore, @unchecked Sendable {
        override func read(_ key: StorageAddress, _ body: (RawSpan) -> Bool) throws -> Bool {
            try super.get(key) { _ = body($0) }
        }
    }

    final class NeverStops: CorrectStore, @unchecked Sendable {
        override func read(_ key: StorageAddress, _ body: (RawSpan) -> Bool) throws -> Bool {
            try super.read(key) { piece in
                _ = body(piece)
                return true
            }
        }
    }

    final class KeepsHalf: CorrectStore, @unchecked Sendable {
        override func write(_ key: StorageAddress, attributes: ValueAttributes?, from source: Source) throws {
            var data = Data()
            do {
                try source { piece in piece.withUnsafeBytes { data.append(contentsOf: $0) } }
            } catch {
                try super.set(key, to: data.bytes, attributes: attributes)
                throw error
            }
            try super.set(key, to: data.bytes, attributes: attributes)
        }
    }

    /// Shows others a value while it is being written; reverts it if it is not completed.
    final class WritesInPlace: CorrectStore, @unchecked Sendable {
        override func write(_ key: StorageAddress, attributes: ValueAttributes?, from source: Source) throws {
            var old: Data?
            _ = try super.get(key) { span in old = span.withUnsafeBytes { Data($0) } }
            var data = Data()
            do {
                try source { piece in
                    piece.withUnsafeBytes { data.append(contentsOf: $0) }
                    try super.set(key, to: data.bytes, attributes: attributes)
                }
            } catch {
                if let old { try super.set(key, to: old.bytes, attributes: nil) } else { _ = try super.remove(key) }
                throw error
            }
            try super.set(key, to: data.bytes, attributes: attributes)
        }
    }

    /// Looks the value up again for each piece.
    final class ReadsAnew: CorrectStore, @unchecked Sendable {
        override func read(_ key: StorageAddress, _ body: (RawSpan) -> Bool) throws -> Bool {
            var start = 0
            var goesOn = true
            while goesOn {
                let isThere = try super.get(key) { value in
                    let end = min(start + 65_536, value.byteCount)
                    goesOn = start < end && body(value.extracting(start..<end)) && end < value.byteCount
                    start = end
                }
                if !isThere { return false }
            }
            return true
        }
    }
}
