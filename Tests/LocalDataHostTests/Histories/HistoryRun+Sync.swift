import LocalDataAPI

@testable import LocalDataHost

/// What devices do with each other.
extension HistoryRun {
    func enterGroup(_ session: Session) async throws {
        do {
            if invitation.isEmpty {
                try await session.router.syncGroup.create(named: "first")
                invitation = try await session.router.syncGroup.invite().code
            } else {
                try await session.router.syncGroup.join(invitation, named: "second")
            }
        } catch { throw Failure(kind: "sync: \(Self.code(of: error))", words: "the device cannot sync: \(error)") }
        log.append("  enter the sync group")
        noteSynced(session)
    }

    func sync(_ session: Session) async throws {
        do { try await session.router.sync() } catch {
            throw Failure(kind: "sync: \(Self.code(of: error))", words: "the device cannot sync: \(error)")
        }
        log.append("  sync")
        noteSynced(session)
    }

    private func noteSynced(_ session: Session) {
        for value in model.values[session.app].indices {
            let key = key(value, session)
            let reason = model.values[session.app][value].reasonToRefuse(key, of: session.release)
            number += 1
            model.sync(value, as: key, on: session.app, isRefused: reason != nil, at: number)
            note(session, value)
        }
    }
}
