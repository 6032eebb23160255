import LocalDataAPI

@testable import LocalDataHost

extension HistoryRun {
    /// Opens the containers of a release, changes a setting, and checks all.
    func open(_ session: Session, changing setting: Int?, isBefore: Bool = false) async throws {
        let shapes = history.apps[session.app].releases[session.release].containers
        // An earlier release does not know what later ones did; it may refuse to open, and writes nothing here.
        let isEarlier = session.release < model.opened
        let changed = isEarlier ? nil : setting
        try await HistoryShapes.$current.withValue(shapes) {
            do {
                let (first, second) = (HistoryContainer<HistoryFirstSlot>(), HistoryContainer<HistorySecondSlot>())
                try await open(first, shapes[0], session, changed, isBefore, isEarlier)
                if shapes.count > 1 { try await open(second, shapes[1], session, changed, isBefore, isEarlier) }
                model.opened = max(model.opened, session.release)
            } catch let failure as Failure {
                throw failure
            } catch {
                log.append("  open: \(error)")
                if isEarlier || shapes.contains(where: \.isUndeclared) {
                    refusals += 1
                    return
                }
                throw Failure(kind: "open refused: \(Self.code(of: error))", words: "open was refused: \(error)")
            }
        }
    }

    private func open<Slot>(
        _ container: HistoryContainer<Slot>, _ shape: HistoryShape, _ session: Session, _ setting: Int?,
        _ isBefore: Bool, _ isEarlier: Bool
    ) async throws {
        let changed = shape.properties.first { $0.setting == setting }
        if changed != nil { number += 1 }
        if let changed, isBefore { container.set(number, changed.name) }
        try await container.open(in: session.router)
        log.append("  open \(shape.branch)")
        if let changed {
            if !isBefore {
                container.set(number, changed.name)
                try await container.save(changed.name)
            }
            log.append("  s\(changed.setting) = \(number)")
            model.settings[changed.setting] = number
        }
        for property in shape.properties where !isEarlier {
            reads += 1
            let (expected, found) = (model.settings[property.setting], container[property.name])
            guard found != expected else { continue }
            let kind = found == nil ? "lost" : expected == nil ? "came back" : "wrong"
            throw Failure(
                kind: "setting \(kind)",
                words: "s\(property.setting) is \(expected.map(String.init) ?? "the default") and shows "
                    + (found.map(String.init) ?? "the default"))
        }
    }
}
