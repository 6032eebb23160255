/// Why bytes are no header that this version reads.
package enum EnvelopeFault: Error, Equatable, Sendable {
    /// They do not start as an envelope does.
    case notAnEnvelope
    /// They start as an envelope does and end too early; with this many bytes in all there is more to say.
    case incomplete(needs: Int)
    /// Another version wrote them.
    case version(UInt8)
    /// They contradict the specification: what the header has.
    case malformed(String)
}

extension EnvelopeFault: CustomStringConvertible {
    /// What is wrong, as the rest of a sentence that starts with the name of the bytes.
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
