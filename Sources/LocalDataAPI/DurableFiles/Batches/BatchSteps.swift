import LocalDataPluginAPI

/// The steps of a committed batch, grouped by location.
struct BatchSteps {
    private let places: [(place: DurableDirectory, steps: [BatchStep])]
    private let authority: BatchAuthority

    init(_ steps: [BatchStep], _ authority: BatchAuthority) {
        self.authority = authority
        var numbers: [ObjectIdentifier: Int] = [:]
        var places: [(place: DurableDirectory, steps: [BatchStep])] = []
        for step in steps {
            if let number = numbers[ObjectIdentifier(step.place)] {
                places[number].steps.append(step)
            } else {
                numbers[ObjectIdentifier(step.place)] = places.count
                places.append((step.place, [step]))
            }
        }
        self.places = places
    }

    /// Takes all steps, makes them durable, and removes folders that have become empty. Skips a location that no longer
    /// exists.
    ///
    /// - Throws: `StorageError`; then the steps may be repeated, but changes that could not be synchronized may be
    ///   lost.
    func takeDurably() throws(StorageError) {
        // A single failure of a disk or server should not leave a batch incomplete.
        do { try take() } catch let error where error.systemError != nil { try take() }
        for (place, steps) in places { try synchronize(place, steps) }
        for (_, steps) in places { for step in steps { step.tidy() } }
    }

    /// Removes the folders of temporary files that the batch has enlarged.
    func removeLargeTemporaryFolders() {
        for (place, steps) in places where steps.count >= Self.many {
            if let folder = try? place.descriptorForReading() { place.removeEmptyTemporaryFolder(in: folder) }
        }
    }

    /// About 64 KiB of names.
    private static let many = 1000

    private func take() throws(StorageError) {
        for (place, steps) in places {
            guard let folder = try place.folderIfThere() else { continue }
            try authority.check(folder: folder.descriptor, at: place.path)
            for step in steps { try step.take(in: folder, authority) }
        }
    }

    /// Synchronizes every changed folder once, inner folders first.
    private func synchronize(_ place: DurableDirectory, _ steps: [BatchStep]) throws(StorageError) {
        guard let folder = try place.folderIfThere() else { return }
        var inner: [[UInt8]: RelativePath.Folder] = [:]
        for step in steps { for name in step.path.folders { inner[name.path.bytes] = name } }
        // A missing folder has been emptied since, by someone who makes that durable.
        for name in inner.values.sorted(by: { $0.path.count > $1.path.count }) {
            _ = try place.synchronize(name, in: folder.descriptor)
        }
        // After a power loss, the staged names would exist again beside the final ones.
        if FileSystemKind(of: folder.descriptor) != .ordered, steps.contains(where: { $0.staged != nil }),
            let temporary = try place.temporaryFolderIfThere(folder)
        {
            try place.synchronizeSelf(temporary)
        }
        try place.synchronizeSelf(folder.descriptor)
    }
}
