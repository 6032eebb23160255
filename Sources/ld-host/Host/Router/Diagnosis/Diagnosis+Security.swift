internal import HostGround
internal import HostMoving
internal import HostPlugins
internal import HostSealing
internal import HostStores
internal import HostTransfer
internal import LocalDataAPI

/// How values are protected, and against whom. Never asks for a passphrase.
extension Diagnosis {
    static func security(_ snapshot: RouterSnapshot, besides silent: Set<String>) async -> [Finding] {
        let findings = try? await onIOThread { () throws(StorageError) in
            let answering = snapshot.stores.filter { !silent.contains($0.settings.name) }
            return [provider(snapshot)] + answering.flatMap { stores($0, snapshot) }
                + answering.flatMap { exposure(of: $0, snapshot) + keyFile(of: $0, snapshot) }
                + unwritable(answering, snapshot) + [masterKeys(snapshot, besides: silent)]
                + absentPlaces(snapshot, besides: silent) + formerRings(snapshot, besides: silent) + journal(snapshot)
                + answering.flatMap { abandonedBatches(in: $0, snapshot) }
                + answering.flatMap { leftBehind(in: $0, snapshot) } + formerStores(snapshot)
        }
        return findings ?? []
    }

    /// What an audit says beside the keys: values in stores that no longer serve their domain, and what others can
    /// write to. Never asks for a passphrase.
    ///
    /// - Parameters:
    ///   - domain: The only domain whose values count; `nil` for all.
    ///   - files: The sources of the configuration.
    ///   - silent: The stores that did not answer in time, which are not waited for again.
    static func besideKeys(
        _ snapshot: RouterSnapshot, ofDomain domain: String?, files: [String], besides silent: Set<String>
    ) async -> [String] {
        let findings = try? await onIOThread { () throws(StorageError) in
            let answering = snapshot.stores.filter { !silent.contains($0.settings.name) }
            return answering.flatMap { leftBehind(in: $0, snapshot, ofDomain: domain) }
                + formerStores(snapshot, ofDomain: domain)
                + exposure(of: files + exposed(snapshot.settings.folders)).map { Finding($0) }
                + answering.flatMap { exposure(of: $0, snapshot) + keyFile(of: $0, snapshot) }
        }
        return (findings ?? []).filter(\.isProblem).map(\.text)
    }

    private static func provider(_ snapshot: RouterSnapshot) -> Finding {
        do throws(StorageError) {
            let crypto = try snapshot.crypto.openIfNeeded()
            let ciphers = AuthenticatedCipher.all.filter(crypto.offers).map(\.name)
            let derivations = KeyDerivationFunction.allCases.filter(crypto.offers).map(\.description)
            return Finding(
                .provider,
                "crypto provider '\(crypto.component)' computes \((ciphers + derivations).joined(separator: ", "))")
        } catch {
            return Finding(.provider, "crypto provider", error)
        }
    }

    private static func stores(_ slot: StoreSlot, _ snapshot: RouterSnapshot) -> [Finding] {
        let findings = sealing(of: slot, snapshot)
        guard let sealing = slot.settings.sealing, !findings.contains(where: \.isProblem) else { return findings }
        return findings + weakness(of: sealing, in: slot.settings.name) + unsealed(slot, snapshot)
    }

    /// How a store seals its values, and whether they can be opened; nothing of a plain store that has none.
    static func sealing(of slot: StoreSlot, _ snapshot: RouterSnapshot) -> [Finding] {
        guard let sealing = slot.settings.sealing else { return sealsNoMore(slot, snapshot) }
        let what = "store '\(slot.settings.name)' is sealed with \(sealing.cipher)"
        do throws(StorageError) {
            let open = try slot.openIfNeeded()
            let crypto = try snapshot.crypto.openIfNeeded()
            try crypto.require(sealing.cipher.id, sealing.cipher.name)
            try crypto.require(sealing.derivation.function.rawValue, "\(sealing.derivation.function)")
            try open.sealing?.requireRing()
            guard case .keyFile(let path) = sealing.source, try KeyFile(path: path).read() == nil else {
                return [Finding(.sealing, "\(what); \(sealing.source.protection)")]
            }
            guard try open.sealing?.hasRing() == true else {
                return [Finding(.sealing, "\(what); the key file '\(path)' will be created with the first value")]
            }
            return [
                Finding(
                    .sealing, "\(what), and the key file '\(path)' is missing; its values cannot be opened",
                    hint: KeySource.whenLost, isProblem: true)
            ]
        } catch {
            return [Finding(.sealing, what, error)]
        }
    }

    /// Who else can read a store's key file, or put another one in its place.
    private static func keyFile(of slot: StoreSlot, _ snapshot: RouterSnapshot) -> [Finding] {
        guard case .keyFile(let path)? = slot.settings.sealing?.source else { return [] }
        let what = "the key file '\(PathText.shown(path))' of store '\(slot.settings.name)'"
        var findings: [Finding] = []
        let known = exposed(snapshot.settings.folders).compactMap { FileTrust.weakness(of: $0)?.path }
        if let weakness = FileTrust.weakness(of: path), !known.contains(weakness.path) {
            findings.append(
                Finding(
                    .access, "\(what) can be replaced: \(weakness.finding)", hint: weakness.hint, isProblem: true))
        }
        if let group = KeyFile(path: path).readingGroup {
            findings.append(
                Finding(
                    .access,
                    "\(what) can be read by the members of group \(group), who can open what it seals if they get that"
                ))
        }
        return findings
    }

    private static func unsealed(_ slot: StoreSlot, _ snapshot: RouterSnapshot) -> [Finding] {
        snapshot.unsealedValues(in: slot).map { [Finding(.sealing, $0.text, hint: $0.hint, isProblem: true)] } ?? []
    }

    /// Whether the passphrase of a store could be found by trying many: OWASP's Password Storage Cheat Sheet has the
    /// least costs that are recommended.
    private static func weakness(of sealing: HostSettings.Sealing, in store: String) -> [Finding] {
        switch sealing.source {
        case .terminal, .descriptor: break
        default: return []
        }
        let cost: String
        switch sealing.derivation {
        case .pbkdf2(let iterations, _) where iterations < 600_000:
            cost = "with \(iterations) iterations of PBKDF2; OWASP recommends at least 600000"
        case .argon2id(let passes, let memory) where UInt64(memory) * UInt64(passes) < 35 << 10 || memory < 7 << 10:
            cost =
                "with \(passes) passes of Argon2id over \(memory >> 10) MiB; OWASP recommends at least 2 over 19 MiB"
        default: return []
        }
        let setting = "ld-host config unset stores.\(ConfigurationPath([store])).sealing"
        return [
            Finding(
                .sealing, "store '\(store)' derives the key from its passphrase \(cost)",
                hint: "\(setting).iterations, and .memory if it is set; then ld-host keys rotate --store \(store)",
                isProblem: true)
        ]
    }

    private static func sealsNoMore(_ slot: StoreSlot, _ snapshot: RouterSnapshot) -> [Finding] {
        // Other findings report a store that cannot be opened.
        guard let open = try? slot.openIfNeeded(), open.hasForgottenSealing,
            !snapshot.stores.contains(where: {
                $0.settings.sealing != nil && (try? $0.openIfNeeded())?.identity == open.identity
            })
        else { return [] }
        let hint = "configure its sealing as it was; to keep values plain, copy them to another store before"
        return [Finding(.sealing, StoreSealing.warning(of: open.name), hint: hint, isProblem: true)]
    }

    /// What batches have staged whose record is lost.
    private static func abandonedBatches(in slot: StoreSlot, _ snapshot: RouterSnapshot) -> [Finding] {
        // A store that cannot be opened or listed is reported elsewhere.
        guard let open = try? slot.openIfNeeded(), let found = try? AbandonedBatch.find(in: open, snapshot) else {
            return []
        }
        return found.map { Finding(.interrupted, $0.text, hint: $0.hint, isProblem: true) }
    }

    private static func journal(_ snapshot: RouterSnapshot) -> [Finding] {
        [snapshot.settings.folders.journal, snapshot.settings.folders.batches].flatMap { journal(in: $0) }
    }

    private static func journal(in folder: String) -> [Finding] {
        do throws(StorageError) {
            let survey = try IntentJournal(folder: folder).survey()
            return survey.pending.map { intent in
                intent.state == .inProgress
                    ? Finding(.interrupted, "process \(intent.owner) is running: \(intent.subject)")
                    : Finding(
                        .interrupted, "interrupted: \(intent.subject)",
                        hint: hint(for: intent),
                        isProblem: true)
            } + survey.unreadable.map { Finding(.interrupted, "journal", $0.error) }
        } catch {
            return [Finding(.interrupted, "journal", error)]
        }
    }

    /// The same for stores that are no longer in the configuration.
    private static func formerStores(_ snapshot: RouterSnapshot, ofDomain domain: String? = nil) -> [Finding] {
        let history = RouteHistory(snapshot.settings.folders)
        let left = history.formerRoutes.filter { domain == nil || $0.key == domain }
        return history.stores.flatMap { name -> [Finding] in
            guard snapshot.slot(ofStore: name) == nil else { return [] }
            let slot = snapshot.slotOrComponent(name)
            do throws(StorageError) { _ = try slot.openIfNeeded() } catch {
                // A component that is not installed: values are out of sight only if it has served.
                guard error.code != .componentNotFound || left.values.contains(where: { $0.contains(name) }) else {
                    return []
                }
                return [
                    Finding(
                        .leftValues,
                        "store '\(name)' served here before, and its remaining values are unknown: \(error.message)",
                        hint: "\(error.hint.isEmpty ? "" : error.hint + "; ")if no values remain there, run: "
                            + "ld-host store forget \(name)")
                ]
            }
            return leftBehind(in: slot, snapshot, ofDomain: domain)
        }
    }

    /// Values in a store that no longer serves their domain, so that no app finds them.
    private static func leftBehind(
        in slot: StoreSlot, _ snapshot: RouterSnapshot, ofDomain domain: String? = nil
    ) -> [Finding] {
        snapshot.leftValues(in: slot).filter { domain == nil || $0.domain == domain }.map { left in
            let places = left.places.map { "'\($0)'" }.joined(separator: ", ")
            let text = "store '\(left.store)' still holds values of \(places), which '\(left.serving)' serves now"
            return left.isAcknowledged
                ? Finding(.leftValues, "\(text); they stay there, as confirmed")
                : Finding(.leftValues, text, hint: left.choice, isProblem: true)
        }
    }

    private static func hint(for intent: PendingIntent) -> String {
        switch intent.kind {
        case ResealIntent.kind: "run: ld-host reseal"
        case SwitchIntent.kind: "the next command undoes or finishes it; if not, see why its stores cannot be used"
        case CopyIntent.kind:
            "resume it: \(CopyIntent.command(intent)); or give it up: \(CopyIntent.command(intent, givingUp: true))"
        case BatchIntent.kind: "the first use of its stores completes it; if not, see why they cannot be used"
        default: "use a later version of LocalData"
        }
    }

    /// The rings that the configuration named before; skipped where that would prompt someone or take long.
    private static func formerRings(_ snapshot: RouterSnapshot, besides silent: Set<String>) -> [Finding] {
        if snapshot.settings.routes["keychain"]?.store.sealing?.source.asksForIt == true { return [] }
        if let store = snapshot.settings.routes["keychain"]?.store.name, silent.contains(store) { return [] }
        let rings = (try? snapshot.rings.earlier())?.filter { (try? $0.state()?.entries.isEmpty) == false } ?? []
        guard !rings.isEmpty else { return [] }
        return [
            Finding(
                .keys, "former master keys: \(rings.map(\.name).joined(separator: ", ")); what they sealed is readable",
                hint: "re-encrypt it under the current keys: ld-host reseal")
        ]
    }

    /// Locations where master keys have sealed values, and that are not there; skipped where that would prompt someone.
    /// Other findings report what cannot be opened.
    private static func absentPlaces(_ snapshot: RouterSnapshot, besides silent: Set<String>) -> [Finding] {
        let asks = snapshot.stores.contains { $0.settings.sealing?.source.asksForIt == true }
        guard silent.isEmpty, !asks, let ring = try? snapshot.rings.ring(named: snapshot.rings.current),
            let state = try? ring.state(),
            let absent = try? SealedScan(snapshot: snapshot, name: .master, ring: ring).absent(state.places)
        else { return [] }
        return absent.map {
            Finding(.keys, "\(ring.name) has sealed values in \($0.whereabouts)", hint: $0.advice, isProblem: true)
        }
    }

    private static func masterKeys(_ snapshot: RouterSnapshot, besides silent: Set<String>) -> Finding {
        let name =
            "master keys: '\(snapshot.settings.encryption.account)' of the keychain service "
            + "'\(snapshot.settings.encryption.service)'"
        if let source = snapshot.settings.routes["keychain"]?.store.sealing?.source, source.asksForIt {
            return Finding(.keys, "\(name); not examined, since that takes \(source)")
        }
        if let store = snapshot.settings.routes["keychain"]?.store.name, silent.contains(store) {
            return Finding(.keys, "\(name); not examined, since store '\(store)' does not answer")
        }
        do throws(StorageError) {
            guard let state = try snapshot.rings.ring(named: snapshot.rings.current).stateUnlessMissing() else {
                return Finding(.keys, "\(name); the first will be created with the first sealed value")
            }
            guard let active = state.active else {
                return Finding(.keys, "\(name); none is active", hint: "run: ld-host keys rotate", isProblem: true)
            }
            return Finding(
                .keys,
                "\(name); \(state.entries.count), active is \(active.id) of "
                    + UTCTime.seconds(active.created))
        } catch {
            return Finding(.keys, name, error)
        }
    }
}
