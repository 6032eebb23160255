/// Changes of single files, ordered with batches.
extension BatchFolder {
    /// Replaces or creates a file in `place` as ``DurableDirectory/replace(_:attribute:with:published:)`` does, in the
    /// order of ``around(_:stands:)``.
    package func replace(
        _ path: RelativePath, in place: DurableDirectory, attribute: FileAttribute?, with bytes: UnsafeRawBufferPointer
    ) throws {
        var identity: FileIdentity?
        try around {
            try place.replace(path, attribute: attribute, with: bytes) { identity = $0 }
        } stands: {
            try place.identity(of: path) == identity
        }
    }

    /// Replaces or creates a file whose content arrives in pieces.
    package func replace(
        _ path: RelativePath, in place: DurableDirectory, attribute: FileAttribute?,
        from source: (_ take: (RawSpan) throws -> Void) throws -> Void
    ) throws {
        var written: WrittenContent?
        var identity: FileIdentity?
        try around {
            if let written {
                // The source is exhausted; the file with its content is still open.
                try place.replace(path, attribute: attribute, from: { try written.forEachPiece($0) })
            } else {
                try place.replace(
                    path, attribute: attribute, from: source,
                    written: { written = WrittenContent(try $0.duplicate()) }, published: { identity = $0 })
            }
        } stands: {
            try place.identity(of: path) == identity
        }
    }

    /// Removes a file in `place`; `false` if there was none.
    package func remove(_ path: RelativePath, in place: DurableDirectory) throws -> Bool {
        var isRemoved = false
        try around {
            if try place.remove(path) { isRemoved = true }
        } stands: {
            try place.identity(of: path) == nil
        }
        return isRemoved
    }
}

/// A written file, kept open even if its name is replaced.
private final class WrittenContent {
    private let file: OpenFile

    init(_ file: consuming OpenFile) { self.file = file }

    func forEachPiece(_ body: (RawSpan) throws -> Void) throws {
        var failure: (any Error)?
        try file.readPieces { piece in
            do {
                try body(piece)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }
}
