internal import HostGround
internal import HostPlugins
internal import HostSealing
package import LocalDataAPI

extension RouterSnapshot {
    /// The namespaces in a store that may hold values of apps, the ledger and the list of rings, with the names that
    /// count. Calls may wait.
    ///
    /// - Parameters:
    ///   - withFolders: Whether to include namespaces with their own folders, as far as they are known or the
    ///     store's ring names them: stores do not list those.
    ///   - passingOver: Takes why a store cannot list all; `nil` if that is an error.
    package func places(
        in open: OpenStore, withFolders: Bool, passingOver: ((StorageError) -> Void)? = nil
    ) throws(StorageError) -> [StorageNamespace: ListedNames] {
        var places: [StorageNamespace: ListedNames] = [:]
        do throws(StorageError) {
            try open.store.forEachPlace {
                if !HostSettings.isReserved($0) { places[$0] = .all }
                return true
            }
        } catch {
            guard let passingOver, error.code == .permissionDenied else { throw error }
            passingOver(error)
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
