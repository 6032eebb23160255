/// A provider whose ciphers also work in pieces. Ability `localdata.crypto.incremental/1`.
public protocol IncrementalCryptoProvider: CryptoProvider {
    /// The ciphers that it takes in pieces.
    var incrementalCiphers: [AuthenticatedCipher] { get }

    /// Starts to seal or to open, with all of the data that is only authenticated.
    func begin(
        _ direction: CipherDirection, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan
    ) throws -> any CipherStream
}

/// What a stream does.
public enum CipherDirection: Hashable, Sendable {
    /// Encrypts and makes a tag.
    case seal
    /// Decrypts and checks a tag.
    case open
}

/// A cipher in pieces, used by one thread at a time. What it keeps of key and plaintext is zeroed when it goes away.
public protocol CipherStream: AnyObject {
    /// Transforms the next piece; `output` is as long as `input`. What an opening stream writes is not authentic before
    /// ``open(tag:)`` returned.
    func update(_ input: RawSpan, into output: inout MutableRawSpan) throws

    /// Ends a sealing stream: writes the tag.
    func seal(tag: inout MutableRawSpan) throws

    /// Ends an opening stream; throws `cannotOpen` if the tag is wrong.
    func open(tag: RawSpan) throws
}
