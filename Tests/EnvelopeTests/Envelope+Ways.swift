import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostSealing
@testable import LocalDataHost

/// The way in which a value is sealed or opened: in one call, or in pieces of a size.
enum Way: Hashable, CustomTestStringConvertible, Sendable {
    case whole
    case pieces(Int)

    var testDescription: String {
        switch self {
        case .whole: "whole"
        case .pieces(let size): "in pieces of \(size)"
        }
    }
}

extension Envelope {
    func seal(
        _ value: Data, _ way: Way, under key: EnvelopeKey, as style: EnvelopeStyle, attributes: ValueAttributes? = nil
    ) throws -> Data {
        guard case .pieces(let size) = way else {
            return try seal(value, under: key, as: style, attributes: attributes)
        }
        var rest = value[...]
        let source = try EnvelopeSource(self, under: key, as: style, attributes: attributes) { buffer in
            let piece = rest.prefix(min(size, buffer.count))
            buffer.copyBytes(from: piece)
            rest = rest.dropFirst(piece.count)
            return piece.count
        }
        var sealed = Data()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
        defer { buffer.deallocate() }
        while case let count = try source.read(into: buffer), count > 0 { sealed.append(contentsOf: buffer[..<count]) }
        return sealed
    }

    /// The bytes that open before anything fails, and the error.
    func pieces(
        of sealed: Data, by size: Int, find: @escaping KeyFinder
    ) -> (value: Data, header: EnvelopeHeader?, failure: StorageError?) {
        let opener = EnvelopeOpener(self, find: find)
        var value = Data()
        func keep(_ bytes: UnsafeRawBufferPointer) -> Bool {
            value.append(contentsOf: bytes)
            return true
        }
        do throws(StorageError) {
            var rest = sealed[...]
            while !rest.isEmpty {
                let piece = Data(rest.prefix(size))
                rest = rest.dropFirst(size)
                _ = try piece.withBuffer { (piece) throws(StorageError) in try opener.take(piece, keep) }
            }
            try opener.finish(keep)
            return (value, opener.parsedHeader, nil)
        } catch { return (value, opener.parsedHeader, error) }
    }

    func open(_ sealed: Data, _ way: Way, under key: EnvelopeKey) throws -> (value: Data, header: EnvelopeHeader) {
        guard case .pieces(let size) = way else { return try open(sealed) { _ in key } }
        let (value, header, failure) = pieces(of: sealed, by: size) { _ in key }
        if let failure { throw failure }
        return (value, try #require(header))
    }
}

/// Expects bytes to be refused as a whole, in one call and in pieces, and to stay unchanged.
///
/// - Parameter plaintext: The value whose verified chunks may be handed out before the refusal.
func expectRefused(
    _ sealed: Data, by envelope: Envelope, under key: EnvelopeKey, of plaintext: Data = Data(),
    allowing others: [String] = [],
    pieces sizes: [Int] = [1021], _ what: @autoclosure () -> String = "", _ location: SourceLocation = #_sourceLocation
) {
    let copy = Array(sealed)
    func check(_ error: StorageError?, _ way: Way) {
        let usual = envelope.context.cannotOpen
        guard let error, error.code == .cannotOpen,
            error.message == usual.message || others.contains(where: { error.message.contains($0) })
        else {
            Issue.record("\(what()), \(way): \(error.map { "\($0)" } ?? "opened")", sourceLocation: location)
            return
        }
    }
    do throws(StorageError) {
        _ = try envelope.open(sealed) { _ in key }
        check(nil, .whole)
    } catch { check(error, .whole) }
    for size in sizes {
        let (value, _, failure) = envelope.pieces(of: sealed, by: size) { _ in key }
        check(failure, .pieces(size))
        if !plaintext.starts(with: value) {
            Issue.record("\(what()), in pieces of \(size): other bytes were handed out", sourceLocation: location)
        }
    }
    if Array(sealed) != copy { Issue.record("\(what()): the sealed bytes were changed", sourceLocation: location) }
}

/// The parts of error messages that say more than that a value cannot be opened.
enum Named {
    static let version = "its envelope has version"
    static let key = "is not the one that sealed it"
    static let algorithm = "does not offer"
}
