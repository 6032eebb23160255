import DurableFiles
import LocalDataAPI
import TestSupport

/// A root with batches, one folder below it and one outside.
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
    ) -> FileChange {
        change(RelativePath(name), text, in: place, before: body)
    }

    func change(
        _ path: RelativePath, _ text: String?, in place: DurableDirectory? = nil,
        before body: (() throws -> Void)? = nil
    ) -> FileChange {
        guard let text else { return FileChange(in: place ?? inside, path, content: nil) }
        return FileChange(in: place ?? inside, path) { take in
            try body?()
            try Array(text.utf8).withUnsafeBytes { try take($0) }
        }
    }

    /// The paths of everything below the folder except folders and the given files: temporary and staged contents, and
    /// the batch's journal. The permanent lock of the batches does not count.
    func debris(beside files: [String]) throws -> [String] {
        try folder.files().filter { !files.contains($0) && $0 != "root/.batch/lock" }
    }

    /// Leaves a committed batch of two files partly in place: `first` is, `second` is not, since a folder is in the
    /// way. Once a test removes that folder, the batch can be completed.
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
