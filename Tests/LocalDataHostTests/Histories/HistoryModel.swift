/// What must be true of the values of a history, as simple as it can be said: the last acknowledged content of each.
struct HistoryModel {
    /// What is known of one value.
    struct Value {
        /// The last acknowledged number; `nil` if the value was never written, or was removed.
        var content: Int?
        /// Whether it may have been lost, or be any of several contents, without anybody's fault.
        var isUnknown = false
        /// Where it was at any time; last, where it was stored or removed last.
        var places: [HistoryPlace] = []
        /// Whether the host has brought the last content to where the key is.
        var isBrought = false
        /// Whether it was removed when nothing showed that what is at other places is not another key's: it stays then.
        var staysElsewhere = false
        /// The number of the last write or removal, which orders those of several devices.
        var stamp = 0
        /// Whether it was removed since its device synced.
        var isJustRemoved = false
        /// What its device had when it synced last: what was set and removed since is unknown to sync.
        var synced: (content: Int?, stamp: Int, isUnknown: Bool) = (nil, 0, false)
        /// The type of what was taken over from another device, and is stored as it was there.
        var takenType: HistoryType?
        /// Whether its device may have left it out when it synced last, since it could not be read.
        var isLeftOut = false
        /// Of what the group has, the app on the device that has published it.
        var publisher: Int?
        /// The type as which it was written.
        var type: HistoryType?
        /// The addresses by which releases on this device have known it, the present one last.
        var addresses: [Address] = []
        /// The declarations under which a copy of it may lie somewhere, the latest last.
        var trail: [(release: Int, key: HistoryKey, subDirectory: String?)] = []
    }

    /// What the devices of the sync group have published, by value and address.
    var group: [Address: Value] = [:]

    struct Address: Hashable {
        let value: Int
        let name: String
        let place: HistoryPlace
        /// The sub-directory of a file.
        let folder: String?
    }

    /// By app and value.
    var values: [[Value]]
    /// The numbers in the settings of the first app's containers.
    var settings: [Int?]
    /// The latest release that has opened its containers.
    var opened = 0

    init(_ history: History) {
        values = history.apps.map { app in app.releases[0].keys.map { _ in Value() } }
        settings = Array(repeating: nil, count: history.settings)
    }
}

// Sync.
extension HistoryModel {
    /// Notes by which address a release that starts knows a value: later ones remember it.
    mutating func start(_ value: Int, as key: HistoryKey, in folder: String?, on app: Int) {
        let address = Address(
            value: value, name: key.name, place: key.place, folder: key.place.isFile ? folder : nil)
        values[app][value].addresses.removeAll { $0 == address }
        values[app][value].addresses.append(address)
    }

    /// A device publishes what it has of a value at the address of its key, and takes over what is later there, or at
    /// an address that earlier releases on this device had.
    ///
    /// - Parameter isRefused: Whether it may have refused that, since the release cannot have what was there before.
    mutating func sync(_ value: Int, as key: HistoryKey, on app: Int, isRefused: Bool, at number: Int) {
        // A store does not say when a value was removed: that counts from now. Of one that was left out, nobody knew.
        if values[app][value].isJustRemoved {
            let synced = values[app][value].synced
            // Whether sync knows of the removal is unknown, too.
            if values[app][value].isLeftOut || synced.isUnknown { values[app][value].isUnknown = true }
            values[app][value].stamp = synced.content == nil ? synced.stamp : number
        }
        let known = values[app][value].addresses.compactMap { group[$0] } + [values[app][value]]
        let isRefused = isRefused && known.contains { $0.content != nil || $0.isUnknown }
        values[app][value].isLeftOut = isRefused
        if isRefused { values[app][value].stamp = number }
        defer {
            let own = values[app][value]
            values[app][value].synced = (own.content, own.stamp, own.isUnknown)
        }
        if isRefused { values[app][value].isUnknown = true }
        values[app][value].isJustRemoved = false
        let (own, addresses) = (values[app][value], values[app][value].addresses)
        // What this release cannot read is kept aside.
        let others =
            addresses.compactMap { group[$0] }.filter { $0.type.map(key.type.canRead) ?? true }
            .max { $0.stamp < $1.stamp } ?? Value()
        if own.stamp < others.stamp {
            (values[app][value].content, values[app][value].stamp) = (others.content, others.stamp)
            (values[app][value].isUnknown, values[app][value].type) = (others.isUnknown, others.type)
            (values[app][value].trail, values[app][value].takenType) = ([], others.type)
            values[app][value].places.append(key.place)
            (values[app][value].isBrought, values[app][value].staysElsewhere) = (false, false)
        }
        // A device that cannot read what another one has published says nothing of that value itself until it can.
        let isKeptAside = addresses.compactMap { group[$0] }.contains { theirs in
            theirs.publisher != app && theirs.type.map(key.type.canRead) == false
        }
        // If what it has itself was refused, it may have been published all the same.
        guard !isKeptAside || isRefused else {
            // Of what was published before, it may have seen more.
            let latest = addresses.compactMap { group[$0]?.stamp }.max() ?? 0
            if values[app][value].stamp < latest { values[app][value].isUnknown = true }
            return
        }
        // The device that made the group leads it, and stores values in the current version of their types.
        if app == 0, values[app][value].content != nil, values[app][value].type.map(key.type.canRead) == true {
            values[app][value].type = key.type
            for address in addresses where group[address]?.stamp == values[app][value].stamp {
                group[address]?.type = key.type
                group[address]?.publisher = app
            }
        }
        guard let address = addresses.last, group[address].map({ $0.stamp < values[app][value].stamp }) ?? true else {
            return
        }
        group[address] = values[app][value]
        group[address]?.publisher = app
    }
}

extension HistoryModel.Value {
    /// Whether a value that was removed may be found by a key at `place`: without a catalog, it is still where it was
    /// before, and is only known for the key's if it was brought from there.
    func mayComeBack(at place: HistoryPlace) -> Bool {
        staysElsewhere && (!isBrought || places.dropLast().contains(place))
    }

    /// Why a release may refuse to read this value with an error; `nil` if it has no reason to.
    func reasonToRefuse(_ key: HistoryKey, of release: Int) -> String? {
        if case .link(let version, _)? = takenType, case .link(_, let since) = key.type, version < since {
            return "the chain no longer reads version \(version)"
        }
        for earlier in trail where earlier.key != key {
            let old = earlier.key
            if old.isProtected, !key.isProtected { return "the key protects less than \(old.words) did" }
            if earlier.release > release { return "release \(earlier.release + 1) was here" }
            if key.andSources.contains(where: {
                $0.name == old.name && $0.place == old.place && $0.isSealed != old.isSealed
            }) {
                return "another policy"
            }
            if case .link(let version, _) = old.type, case .link(_, let since) = key.type, version < since {
                return "the chain no longer reads version \(version)"
            }
        }
        return nil
    }
}
