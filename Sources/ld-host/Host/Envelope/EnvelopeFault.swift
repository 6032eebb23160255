/// Why bytes are not a header that this version can read.
package enum EnvelopeFault: Error, Equatable, Sendable {
    /// They do not start like an envelope.
    case notAnEnvelope
    /// They start like an envelope but end too early; with this many bytes in total, parsing can continue.
    case incomplete(needs: Int)
    /// Another version wrote them.
    case version(UInt8)
    /// They violate the specification: the offending content.
    case malformed(String)
}

extension EnvelopeFault: CustomStringConvertible {
    /// The fault, as the rest of a sentence whose subject is the bytes.
    package var description: String {
        switch self {
        case .notAnEnvelope: "is not sealed: it does not start with the bytes 89 4c 44 45"
        case .incomplete(let needed):
            "ends inside its header, which has at least \(max(needed, EnvelopeHeader.fixedSize)) bytes"
        case .version(let version):
            "is an envelope of version \(version); this program reads version \(EnvelopeHeader.version)"
        case .malformed(let what): "has a header with \(what)"
        }
    }
}
