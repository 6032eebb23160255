internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension VectorRun {
    /// A vector of `XdhComp`, whose keys are plain bytes.
    func agreement(
        _ vector: VectorFile.Vector, in group: VectorFile.Group
    ) throws(StorageError) -> VectorOutcome {
        let curve = try group.fields.text("curve")
        guard curve == "curve25519" else { return .skipped("the curve \(curve)") }
        let (privateKey, publicKey) = (try vector.fields.bytes("private"), try vector.fields.bytes("public"))
        let expected = try vector.fields.bytes("shared")
        guard crypto.algorithms[KeyAgreement.x25519.rawValue] != nil else {
            return .skipped("\(KeyAgreement.x25519), which the provider does not declare")
        }
        return .judging(vector.expectation, against: expected, named: "the shared secret") { () throws(StorageError) in
            try crypto.sharedSecret(of: privateKey, with: publicKey, by: .x25519)
        }
    }
}
