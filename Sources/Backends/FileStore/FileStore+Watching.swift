package import DurableFiles
package import LocalDataAPI

extension FileStore: WatchableBackend {
    /// Reports files that this or another process puts in place or removes, within milliseconds; see inotify(7). It
    /// does not report files that are edited in place, bypassing the store.
    package func watch(
        _ place: StorageNamespace, prefix: String, changed: @escaping @Sendable (String?) -> Void
    ) throws -> FolderWatch {
        try StorageError.translatingWatch {
            try FolderWatch(directory(of: place).path, entersFolder: { $0.last == FileName.folderMark }) { change in
                switch change {
                case .anything: changed(nil)
                case .file(let folders, let file):
                    guard let name = FileName.name(folders: folders.map { Array($0.dropLast()) }, file: file),
                        name.utf8.starts(with: prefix.utf8)
                    else { return }
                    changed(name)
                }
            }
        }
    }

    package func unwatch(_ watch: FolderWatch) { watch.end() }
}
