internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import LocalDataAPI

/// Shows that a device's signing key has made a record: an epoch's key is enough to seal, and not to sign.
///
/// What a device publishes together it signs together, at most ``most`` records. Their hashes are the leaves of a tree:
/// a node is the hash of the two below it, and one without a neighbour is the node above it as it is. The root is
/// signed. Behind a record's content, in its box, are
///
///     the nodes beside the way from its leaf to the root, 16 bytes each, the leaf's own neighbour first
///     | signature, 64 bytes | place among the leaves, 1 byte | number of leaves, 1 byte
///
/// A leaf is the first 16 bytes of the hash, with ``GroupLabel/recordLeaf``, of: group's id (32 bytes) | epoch's id
/// (16) | writer's id (16) | size of the name (4, big-endian) | name | content. A node is the first 16 bytes of the
/// hash, with ``GroupLabel/recordNode``, of the two below it. Signed are, behind ``GroupLabel/recordSignature``:
/// group's id | epoch's id | writer's id | number of leaves (1 byte) | root.
struct RecordProof {
    /// The most records that one signature covers.
    static let most = 64
    /// The bytes of a proof for a record that is published alone.
    static let least = GroupCrypto.signatureSize + 2

    /// What a proof is bound to besides name and content.
    struct Binding: Hashable {
        let group: EntryID
        let epoch: EpochID
        let writer: DeviceID
    }

    private let path: [SyncHash]
    private let signature: Data
    private let index: Int
    private let count: Int

    /// The proofs of records that are published together, encoded.
    ///
    /// - Parameter leaves: At most ``most``, and at least one.
    static func encoded(
        of leaves: [SyncHash], _ binding: Binding, signedWith key: SecretBytes, _ crypto: GroupCrypto
    ) throws(StorageError) -> [Data] {
        var levels = [leaves]
        while let level = levels.last, level.count > 1 {
            var above: [SyncHash] = []
            for index in stride(from: 0, to: level.count, by: 2) {
                above.append(
                    index + 1 < level.count ? try node(level[index], level[index + 1], crypto) : level[index])
            }
            levels.append(above)
        }
        let root = levels[levels.count - 1][0]
        let signature = try crypto.sign(signed(root, leaves.count, binding), .recordSignature, with: key)
        return leaves.indices.map { index in
            var (writer, place) = (ByteWriter(.bigEndian, capacity: 256), index)
            for level in levels.dropLast() {
                if place ^ 1 < level.count { writer.add(level[place ^ 1]) }
                place >>= 1
            }
            writer.add(signature)
            writer.add(UInt8(index))
            writer.add(UInt8(leaves.count))
            return Data(writer.bytes)
        }
    }

    /// The hash of one record.
    static func leaf(
        _ content: Data, named name: String, _ binding: Binding, _ crypto: GroupCrypto
    ) throws(StorageError) -> SyncHash {
        var writer = ByteWriter(.bigEndian, capacity: name.utf8.count + 72)
        writer.add(binding)
        writer.add(UInt32(name.utf8.count))
        writer.add(name.utf8)
        return try SyncHash(firstOf: crypto.hash(joined(Data(writer.bytes), content), .recordLeaf))
    }

    /// Splits what a box has.
    ///
    /// - Returns: `nil` if it is too short, or its numbers are impossible.
    static func split(_ opened: Data) -> (content: Data, proof: RecordProof)? {
        guard opened.count >= least else { return nil }
        let (index, count) = (Int(opened[opened.endIndex - 2]), Int(opened[opened.endIndex - 1]))
        guard index < count, count <= most else { return nil }
        var (place, width, nodes) = (index, count, 0)
        while width > 1 {
            if place ^ 1 < width { nodes += 1 }
            (place, width) = (place >> 1, (width + 1) >> 1)
        }
        let size = nodes * SyncHash.size + least
        guard opened.count >= size else { return nil }
        let proof = opened.suffix(size)
        let signature = Data(proof.dropLast(2).suffix(GroupCrypto.signatureSize))
        let path = (0..<nodes).map { SyncHash(firstOf: proof.dropFirst($0 * SyncHash.size)) }
        return (
            joined(opened.dropLast(size)), RecordProof(path: path, signature: signature, index: index, count: count)
        )
    }

    /// Checks that the owner of a key has signed a leaf.
    ///
    /// - Parameter known: What was checked before; a signature that is known costs no second check.
    /// - Throws: `cannotOpen` if it has not.
    func verify(
        _ leaf: SyncHash, _ binding: Binding, signedWith key: Data, _ crypto: GroupCrypto, known: inout KnownProofs
    ) throws(StorageError) {
        let tree = known.tree(binding, signature, count, key)
        var (node, place, width, level) = (leaf, index, count, 0)
        var found: [KnownProofs.Place: SyncHash] = [:]
        var nodes = path[...]
        while true {
            let here = KnownProofs.Place(level: level, index: place)
            if let known = tree?[here] {
                guard known == node else { throw Self.forged }
                break
            }
            found[here] = node
            guard width > 1 else {
                try crypto.verify(
                    signature, of: Self.signed(node, count, binding), .recordSignature, with: key)
                break
            }
            if place ^ 1 < width, let neighbour = nodes.popFirst() {
                found[KnownProofs.Place(level: level, index: place ^ 1)] = neighbour
                let (left, right) = place & 1 == 0 ? (node, neighbour) : (neighbour, node)
                node = try Self.node(left, right, crypto)
            }
            (place, width, level) = (place >> 1, (width + 1) >> 1, level + 1)
        }
        known.add(found, binding, signature, count, key)
    }

    private static let forged = StorageError(.cannotOpen, "a record is signed by another device, or was changed")

    private static func node(
        _ left: SyncHash, _ right: SyncHash, _ crypto: GroupCrypto
    ) throws(StorageError) -> SyncHash {
        var writer = ByteWriter(.bigEndian, capacity: 2 * SyncHash.size)
        writer.add(left)
        writer.add(right)
        return try SyncHash(firstOf: crypto.hash(Data(writer.bytes), .recordNode))
    }

    private static func signed(_ root: SyncHash, _ count: Int, _ binding: Binding) -> Data {
        var writer = ByteWriter(.bigEndian, capacity: 96)
        writer.add(binding)
        writer.add(UInt8(count))
        writer.add(root)
        return Data(writer.bytes)
    }
}

/// What was checked of one writer's latest signature: records that were published together come together.
struct KnownProofs {
    struct Place: Hashable {
        let level: Int
        let index: Int
    }

    private struct Tree {
        let signature: Data
        let count: Int
        let key: Data
        var nodes: [Place: SyncHash] = [:]
    }

    private var trees: [RecordProof.Binding: Tree] = [:]

    func tree(
        _ binding: RecordProof.Binding, _ signature: Data, _ count: Int, _ key: Data
    ) -> [Place: SyncHash]? {
        guard let tree = trees[binding], tree.signature == signature, tree.count == count, tree.key == key else {
            return nil
        }
        return tree.nodes
    }

    /// Adds nodes that follow from a signature.
    mutating func add(
        _ nodes: [Place: SyncHash], _ binding: RecordProof.Binding, _ signature: Data, _ count: Int, _ key: Data
    ) {
        guard count > 1 else { return }
        if tree(binding, signature, count, key) == nil {
            trees[binding] = Tree(signature: signature, count: count, key: key)
        }
        trees[binding]?.nodes.merge(nodes) { $1 }
    }
}

extension SyncHash {
    /// The first 16 bytes of at least as many.
    fileprivate init(firstOf bytes: some Sequence<UInt8>) { self = SyncHash(bytes: bytes) ?? SyncHash(high: 0, low: 0) }
}

extension ByteWriter {
    fileprivate mutating func add(_ binding: RecordProof.Binding) {
        add(binding.group.bytes)
        add(binding.epoch)
        add(binding.writer)
    }
}
