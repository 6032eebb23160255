internal import CLocalData
internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension ConformanceCheck {
    static let cryptoStreams: [ConformanceCheck] = [
        ConformanceCheck(
            crypto: "pieces.same", "pieces give the same result as one call, wherever they are cut", if: .streams
        ) { provider in
            for cipher in provider.incrementalCiphers {
                let use = CipherUse(cipher, seed: 11)
                let short = Pattern.data(11, 150)
                for place in 0...short.count {
                    try provider.expectPieces([short.prefix(place), short.dropFirst(place)], cipher, use)
                }
                let long = Pattern.data(12, 200_001)
                for size in [1000, 4095, 65_536, 65_537, 200_001] {
                    let pieces = stride(from: 0, to: long.count, by: size).map { long.dropFirst($0).prefix(size) }
                    try provider.expectPieces(pieces, cipher, use)
                }
                let tiny = Pattern.data(13, 40)
                try provider.expectPieces((0..<40).map { tiny.dropFirst($0).prefix(1) }, cipher, use)
                try provider.expectPieces([], cipher, use)
                try provider.expectPieces([Data(), tiny, Data(), tiny, Data()], cipher, use)
            }
        },
        ConformanceCheck(crypto: "pieces.forged", "pieces with a changed bit do not open", if: .streams) {
            provider in
            for cipher in provider.incrementalCiphers {
                let use = CipherUse(cipher, seed: 14)
                let sealed = try provider.seal(Pattern.data(14, 100), cipher, use)
                func refuses(_ ciphertext: Data, _ tag: Data, _ use: CipherUse, _ what: String) throws {
                    let stream = try BoundaryStream(provider.crypto, cipher, seals: false, use)
                    _ = try stream.update(ciphertext.prefix(30))
                    _ = try stream.update(ciphertext.dropFirst(30))
                    let observed = stream.open(tag: tag)
                    try observed.refused(.cannotOpen, "\(cipher): a stream, \(what)")
                    try expect(
                        observed.reports.count == 1,
                        "\(cipher): a stream, \(what), was reported \(observed.reports.count) times")
                }
                for bit in 0..<cipher.tagSize * 8 {
                    try refuses(sealed.ciphertext, sealed.tag.flipping(bit: bit), use, "bit \(bit) of the tag changed")
                }
                for bit in sealed.ciphertext.sampledBits() {
                    try refuses(
                        sealed.ciphertext.flipping(bit: bit), sealed.tag, use, "bit \(bit) of the ciphertext changed")
                }
                try refuses(sealed.ciphertext.dropLast(), sealed.tag, use, "less of the ciphertext")
                for bit in use.data.sampledBits() {
                    var other = use
                    other.data = use.data.flipping(bit: bit)
                    try refuses(sealed.ciphertext, sealed.tag, other, "bit \(bit) of the data changed")
                }
            }
        },
        ConformanceCheck(
            crypto: "pieces.cancel", "a stream can be cancelled at any point, and repeatedly", if: .streams
        ) { provider in
            for cipher in provider.incrementalCiphers {
                let use = CipherUse(cipher, seed: 15)
                for round in 0..<1000 {
                    let stream = try BoundaryStream(provider.crypto, cipher, seals: round % 2 == 0, use)
                    for _ in 0..<round % 3 { _ = try stream.update(Data(count: 20)) }
                    stream.cancel()
                }
                let text = Pattern.data(15, 100)
                try provider.expectPieces([text], cipher, use)
            }
        },
        ConformanceCheck(
            crypto: "pieces.sizes", "a key, nonce or tag of the wrong size is refused for pieces", if: .streams
        ) { provider in
            for cipher in provider.incrementalCiphers {
                let right = CipherUse(cipher, seed: 16)
                for (name, part, size) in [
                    ("key", \CipherUse.key, cipher.keySize), ("nonce", \.nonce, cipher.nonceSize),
                ] {
                    for wrong in [0, 8, size - 1, size + 1, 2 * size] {
                        var use = right
                        use[keyPath: part] = Pattern.data(16, wrong)
                        for seals in [true, false] {
                            try BoundaryStream.refusal(provider.crypto, cipher.id, seals: seals, use)
                                .refused(.unsupported, "\(cipher): a stream with a \(name) of \(wrong) bytes")
                        }
                    }
                }
                let sealed = try provider.seal(Pattern.data(16, 50), cipher, right)
                for wrong in [0, 8, 15, 17] {
                    let stream = try BoundaryStream(provider.crypto, cipher, seals: false, right)
                    _ = try stream.update(sealed.ciphertext)
                    try stream.open(tag: Data((sealed.tag + Data(count: 1)).prefix(wrong)))
                        .refused(.unsupported, "\(cipher): a stream's tag of \(wrong) bytes")
                }
            }
        },
        ConformanceCheck(
            crypto: "pieces.apart", "streams that are open at the same time do not affect each other", if: .streams
        ) { provider in
            for cipher in provider.incrementalCiphers {
                let uses = (0..<6).map { CipherUse(cipher, seed: UInt64(30 + $0)) }
                let streams = try uses.enumerated().map { index, use in
                    try BoundaryStream(provider.crypto, cipher, seals: index % 2 == 0, use)
                }
                let text = Pattern.data(17, 90)
                let sealed = try uses.map { try provider.seal(text, cipher, $0) }
                var outputs = [Data](repeating: Data(), count: streams.count)
                for start in stride(from: 0, to: text.count, by: 30) {
                    for (index, stream) in streams.enumerated() {
                        let input = index % 2 == 0 ? text : sealed[index].ciphertext
                        outputs[index] += try stream.update(input.dropFirst(start).prefix(30))
                    }
                }
                for (index, stream) in streams.enumerated() {
                    if index % 2 == 0 {
                        try expect(
                            outputs[index] == sealed[index].ciphertext && stream.seal() == sealed[index].tag,
                            "\(cipher): a stream that sealed beside others gave a different result")
                    } else {
                        let what = "\(cipher): a stream that opened beside others"
                        try stream.open(tag: sealed[index].tag).succeeded(what)
                        try expect(outputs[index] == text, "\(what) gave a different text")
                    }
                }
            }
        },
    ]
}

extension ProviderUnderTest {
    /// Ends the check with a failure unless pieces give the same result as one call, in both directions.
    fileprivate func expectPieces(_ pieces: [Data], _ cipher: AuthenticatedCipher, _ use: CipherUse) throws {
        let text = pieces.reduce(into: Data()) { $0.append($1) }
        let expected = try seal(text, cipher, use)
        let sizes = pieces.count > 4 ? "\(pieces.count) pieces" : "pieces of \(pieces.map(\.count)) bytes"
        let sealing = try BoundaryStream(crypto, cipher, seals: true, use)
        let ciphertext = try pieces.reduce(into: Data()) { $0.append(try sealing.update($1)) }
        try expect(ciphertext == expected.ciphertext, "\(cipher): \(sizes) were sealed to a different ciphertext")
        try expect(try sealing.seal() == expected.tag, "\(cipher): \(sizes) were sealed with a different tag")
        let opening = try BoundaryStream(crypto, cipher, seals: false, use)
        var (opened, rest) = (Data(), expected.ciphertext)
        for piece in pieces {
            opened += try opening.update(rest.prefix(piece.count))
            rest = rest.dropFirst(piece.count)
        }
        try opening.open(tag: expected.tag).succeeded("\(cipher): opening \(sizes)")
        try expect(opened == text, "\(cipher): \(sizes) were opened to a different text")
    }
}
