/// A provider whose ciphers also work in pieces. Ability `localdata.crypto.incremental/1`.
///
/// No host uses it: a value is sealed in chunks, each by one call. It is here for the providers of this package and the
/// checks of the kit.
package protocol IncrementalCryptoProvider: CryptoProvider {
    /// The ciphers that it offers in pieces.
    var incrementalCiphers: [AuthenticatedCipher] { get }

    /// Starts to seal or to open, with all of the additional authenticated data.
    func begin(
        _ direction: CipherDirection, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan
    ) throws -> any CipherStream
}

/// The direction of a stream.
package enum CipherDirection: Hashable, Sendable {
    /// Encrypts and computes a tag.
    case seal
    /// Decrypts and checks a tag.
    case open
}

/// A cipher that works in pieces, used by one thread at a time. It zeroes its copies of key and plaintext when it is
/// deallocated.
package protocol CipherStream: AnyObject {
    /// Transforms the next piece; `output` is as long as `input`. The output of an opening stream is not authentic
    /// before ``open(tag:)`` has returned.
    func update(_ input: RawSpan, into output: inout MutableRawSpan) throws

    /// Ends a sealing stream and writes the tag.
    func seal(tag: inout MutableRawSpan) throws

    /// Ends an opening stream; throws `cannotOpen` if the tag is wrong.
    func open(tag: RawSpan) throws
}
