import DurableFiles

/// A resolved address: the place's folder and the file's path in it, both ready for system calls.
package final class FileKey: Sendable {
    let place: DurableDirectory
    let path: RelativePath

    init(place: DurableDirectory, path: RelativePath) {
        self.place = place
        self.path = path
    }
}
