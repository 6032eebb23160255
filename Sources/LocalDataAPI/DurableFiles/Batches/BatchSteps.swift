import Glibc

/// The steps of a batch that is committed, by their places.
struct BatchSteps {
    private let places: [(place: DurableDirectory, steps: [BatchStep])]

    init(_ steps: [BatchStep]) {
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

    /// Takes all steps, makes them durable, and removes folders that have become empty. A place that is gone is passed
    /// over.
    ///
    /// - Throws: `SystemCallError`; the steps may then be taken again, but what could not be synchronized may be lost.
    func takeDurably() throws {
        // A disk or server that fails once should not leave a batch half way.
        do { try take() } catch is SystemCallError { try take() }
        for (place, steps) in places { try synchronize(place, steps) }
        for (_, steps) in places { for step in steps { step.tidy() } }
    }

    private func take() throws {
        for (place, steps) in places {
            guard let folder = try place.folderIfThere() else { continue }
            for step in steps { try step.take(in: folder) }
        }
    }

    /// Synchronizes every folder that the steps have changed, once each, the inner ones first.
    private func synchronize(_ place: DurableDirectory, _ steps: [BatchStep]) throws {
        guard let folder = try place.descriptorForReading() else { return }
        var folders: [[UInt8]: CString] = [:]
        for step in steps { for name in step.path.folders { folders[name.bytes] = name } }
        for name in folders.values.sorted(by: { $0.count > $1.count }) {
            do {
                let location = FileLocation(directory: place, name: name)
                try FolderMaker.synchronize(name, in: folder, at: location.description, isOwn: true)
            } catch let error as SystemCallError where error.code == ENOENT {
                // Emptied since, by someone who makes that durable.
                continue
            }
        }
        try place.synchronizeSelf(folder)
    }
}
