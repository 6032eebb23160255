internal import DurableFiles
package import LocalDataAPI

extension IntentJournal {
    /// The unfinished intents of a kind, or of all kinds, in the order of their creation.
    ///
    /// - Throws: `permissionDenied` or `fileError` if the folder cannot be read.
    package func pending(kind: String? = nil) throws(StorageError) -> [PendingIntent] {
        try survey().pending.filter { kind == nil || $0.kind == kind }
    }

    /// The journal's contents. Only queries and takes no lock, so it blocks nobody; costs one failed open(2) if there
    /// is no folder.
    ///
    /// - Throws: `permissionDenied` or `fileError` if the folder cannot be read.
    package func survey() throws(StorageError) -> JournalSurvey {
        var names: [String] = []
        do {
            try directory.forEachEntry { name, _ in
                if name.reversed().starts(with: Self.suffix.utf8.reversed()) {
                    names.append(String(decoding: name, as: UTF8.self))
                }
                return true
            }
        } catch {
            throw StorageError(file: error)
        }
        var survey = JournalSurvey()
        for name in names.sorted() {
            do throws(StorageError) {
                guard let intent = try pendingIntent(name) else { continue }
                survey.pending.append(intent)
            } catch {
                survey.unreadable.append(UnreadableIntent(path: "\(folder)/\(name)", error: error))
            }
        }
        return survey
    }

    /// The intent in a file; `nil` if the file is gone.
    private func pendingIntent(_ name: String) throws(StorageError) -> PendingIntent? {
        guard let id = IntentID(String(name.dropLast(Self.suffix.count))) else {
            throw StorageError(
                .corrupt, "'\(folder)/\(PathText.shown(name))' is not named like an intent",
                hint: "move it away; it is not the journal's")
        }
        do {
            while let file = try directory.open(Self.file(of: id)) {
                guard let isHeld = try directory.isHeld(file, as: Self.file(of: id)) else { continue }
                return PendingIntent(try record(of: id, in: file), isHeld ? .inProgress : .interrupted)
            }
            return nil
        } catch {
            throw StorageError(file: error)
        }
    }
}
