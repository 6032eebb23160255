internal import FoundationEssentials
package import LocalDataHost
package import LocalDataAPI

/// Runs vectors through a provider's C functions.
///
/// Algorithms and sizes of keys and tags that the provider does not declare are skipped. Nonces of other sizes are not:
/// a provider must refuse them, whatever the vector says of the cipher in general.
package struct VectorRun: Sendable {
    let crypto: LoadedCrypto

    package init(_ crypto: LoadedCrypto) { self.crypto = crypto }

    /// Runs every vector of a file.
    ///
    /// - Throws: `deserializationFailed` with the position if a vector lacks a member of its type.
    package func run(_ file: VectorFile) throws(StorageError) -> VectorReport {
        var report = VectorReport(file: file.name)
        for group in file.groups {
            for vector in group.vectors { report.take(try outcome(of: vector, in: group, of: file), of: vector) }
        }
        return report
    }

    private func outcome(
        of vector: VectorFile.Vector, in group: VectorFile.Group, of file: VectorFile
    ) throws(StorageError) -> VectorOutcome {
        switch group.type {
        case "AeadTest": try cipher(vector, in: group, of: file.algorithm)
        case "HkdfTest": try extraction(vector, of: file.algorithm)
        case "PbkdfTest": try password(vector, of: file.algorithm)
        case "XdhComp": try agreement(vector, in: group)
        default: .skipped("a group of the type \(group.type)")
        }
    }
}
