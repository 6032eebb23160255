internal import HostGround
internal import HostPlugins
internal import HostSealing
package import LocalDataAPI

extension RouterSnapshot {
    /// The namespaces in a store that may hold values of apps, the ledger and the list of rings, with the names that
    /// count. Calls may wait.
    ///
    /// - Parameter withFolders: Whether to include namespaces with their own folders, as far as they are known or the
    ///   store's ring names them: stores do not list those.
    package func places(
        in open: OpenStore, withFolders: Bool
    ) throws(StorageError) -> [StorageNamespace: ListedNames] {
        var places: [StorageNamespace: ListedNames] = [:]
        try open.store.forEachPlace {
            if !HostSettings.isReserved($0) { places[$0] = .all }
            return true
        }
        guard withFolders else { return places }
        for domain in settings.routes.keys {
            places.merge(knownPlaces(of: domain, in: open).mapValues(\.names)) { listed, _ in listed }
        }
        for place in try open.sealing?.ring.state()?.places ?? [] where place.identity == open.identity {
            places[place.namespace] = .all
        }
        return places
    }
}
