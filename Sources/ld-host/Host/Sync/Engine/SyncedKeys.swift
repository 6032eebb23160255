internal import LocalDataAPI

/// The keys that take part in sync, by the names of their records. It is read once, when the engine is made.
package struct SyncedKeys {
    /// By names.
    package let all: [String: SyncKey]
    /// The names of keys, each with one that other releases of the app may use for it.
    let formerNames: [(name: String, former: String)]
    /// The names of keys, each with that of a key whose value migrations bring to it.
    let sourceNames: [(name: String, source: String)]
    /// The names, in the order of the replica's keys.
    let inOrder: [String]
    private let names: [ExactText: String]

    init(of replica: any SyncReplica, _ group: any SyncGroup) throws(StorageError) {
        var (all, names, inOrder) = ([String: SyncKey](), [ExactText: String](), [String]())
        var (formerNames, sourceNames) = ([(name: String, former: String)](), [(name: String, source: String)]())
        for key in replica.keys {
            let name = try group.name(of: key.address)
            (all[name], names[ExactText(key.address)]) = (key, name)
            inOrder.append(name)
            for address in replica.formerAddresses(of: key.address) {
                formerNames.append((name, try group.name(of: address)))
            }
            for address in replica.sourceAddresses(of: key.address) {
                sourceNames.append((name, try group.name(of: address)))
            }
        }
        (self.all, self.names, self.inOrder) = (all, names, inOrder)
        (self.formerNames, self.sourceNames) = (formerNames, sourceNames)
    }

    subscript(_ name: String) -> SyncKey? { all[name] }

    /// The name of the records of an address; `nil` if its key does not take part.
    func name(of address: String) -> String? { names[ExactText(address)] }
}
