internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
package import LocalDataAPI

/// The authenticated address of a sealed value: a value that was moved to another address does not open.
package struct EnvelopeContext: Sendable {
    /// For errors.
    package let address: StorageAddress
    private let bytes: [UInt8]

    /// Creates the context of an address.
    package init(_ address: StorageAddress) {
        self.address = address
        var writer = ByteWriter(.bigEndian, capacity: 256)
        for text in [address.place.domain, address.place.scope, address.name] {
            writer.add(UInt32(text.utf8.count))
            writer.add(text.utf8)
        }
        bytes = writer.bytes
    }

    /// The data that is authenticated with every chunk: the header and the address.
    func authenticated(_ header: EnvelopeHeader) -> Data {
        let (header, own) = (header.encoded, bytes)
        return filled(header.count + own.count) { output in
            output.copyBytes(from: header)
            UnsafeMutableRawBufferPointer(rebasing: output[header.count...]).copyBytes(from: own)
        }.data
    }

    /// The same error for everything that is wrong with a sealed value.
    package var cannotOpen: StorageError {
        StorageError(
            .cannotOpen,
            "'\(address)' cannot be opened: the stored bytes were changed, moved or never sealed; they stay as they "
                + "are",
            hint: "if it was stored before its store was sealed, see: ld-host doctor; if not, restore it from a backup")
    }

    /// For a header with an algorithm that the provider lacks.
    func cannotOpen(_ algorithm: String, _ crypto: LoadedCrypto) -> StorageError {
        StorageError(
            .cannotOpen,
            "'\(address)' cannot be opened: its envelope asks for \(algorithm), which the crypto provider "
                + "'\(crypto.component)' does not offer; it stays as it is",
            hint: "choose one that does with: ld-host config set encryption.provider ID; see: ld-host plugins list")
    }

    /// For bytes that are not a header.
    package func cannotOpen(_ fault: EnvelopeFault) -> StorageError {
        guard case .version(let version) = fault else { return cannotOpen }
        return StorageError(
            .cannotOpen,
            "'\(address)' cannot be opened: its envelope has version \(version); this program reads version "
                + "\(EnvelopeHeader.version); it stays as it is",
            hint: "use a later version of LocalData")
    }
}
