import DurableFiles
import LocalDataAPI
import TestSupport

/// A root with batches, one place below it and one beside it.
struct BatchFixture: Sendable {
    let folder: TemporaryFolder
    let root: DurableDirectory
    let batches: BatchFolder
    /// `<root>/in`
    let inside: DurableDirectory
    /// A folder that is not below the root.
    let elsewhere: DurableDirectory

    init(_ folder: TemporaryFolder? = nil) throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        root = try DurableDirectory(root: folder.path + "/root")
        batches = try BatchFolder(root: root)
        inside = try DurableDirectory(root: root.path, folders: ["in"])
        elsewhere = try DurableDirectory(root: folder.path + "/elsewhere")
    }

    static let long = RelativePath(pieces: ["aa~", "bb~", "long"].map { Array($0.utf8) })

    func change(
        _ name: String, _ text: String?, in place: DurableDirectory? = nil, before body: (() throws -> Void)? = nil
    ) -> BatchChange {
        change(RelativePath(name), text, in: place, before: body)
    }

    func change(
        _ path: RelativePath, _ text: String?, in place: DurableDirectory? = nil,
        before body: (() throws -> Void)? = nil
    ) -> BatchChange {
        guard let text else { return BatchChange(in: place ?? inside, path, content: nil) }
        return BatchChange(in: place ?? inside, path) { take in
            try body?()
            try Array(text.utf8).withUnsafeBytes { try take($0) }
        }
    }

    /// Everything below the folder that is not one of the given files and no folder: temporary and staged contents, and
    /// what a batch writes down. The lock of the batches stays.
    func debris(beside files: [String]) throws -> [String] {
        try folder.files().filter { !files.contains($0) && $0 != "root/.batch/lock" }
    }

    /// Leaves a batch of two files committed and in place in part: `first` is, `second` is not, since a folder is in
    /// the way. It is to be removed, and then the batch can be completed.
    func interrupt(first: String = "new", second: String = "new") throws -> StorageError? {
        let obstacle = inside.path + "/second"
        do {
            try batches.apply([
                change("first", first), change("second", second) { try TemporaryFolder.makeFolder(obstacle) },
            ])
            return nil
        } catch let error as StorageError {
            return error
        }
    }
}
