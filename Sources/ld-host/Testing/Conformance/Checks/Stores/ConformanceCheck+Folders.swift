internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    /// Values of several folders change together, unless the store declares that it keeps folders apart.
    static let folders: [ConformanceCheck] = [
        ConformanceCheck("folders.batch", "a batch may have changes in several folders", if: .batch, .foldersTogether) {
            store in
            try expectTogether(store) { addresses in
                try store.store.apply(
                    addresses.map { StorageChange(key: try store.handle($0), value: Data($0.name.utf8)) })
            }
        },
        ConformanceCheck(
            "folders.transaction", "a transaction may have changes in several folders", if: .transactions,
            .foldersTogether
        ) { store in
            try expectTogether(store) { addresses in
                let transaction = try BoundaryTransaction(store.store)
                for address in addresses { try transaction.set(store.handle(address), to: Data(address.name.utf8)) }
                try transaction.commit()
            }
        },
        ConformanceCheck(
            "folders.bulk", "a bulk change may have changes in several folders", if: .bulk, .foldersTogether
        ) {
            store in
            try expectTogether(store) { addresses in
                try store.applyAll(addresses.map { store.change($0.name, $0.name, in: $0.place) })
            }
        },
    ]

    /// Sets values in two folders and in a namespace without a folder.
    private static func expectTogether(
        _ store: StoreUnderTest, _ set: ([StorageAddress]) throws -> Void
    ) throws {
        let addresses = [
            StorageAddress(store.place, name: "own"), StorageAddress(store.place(inFolder: "first"), name: "first"),
            StorageAddress(store.place(inFolder: "second"), name: "second"),
        ]
        do { try set(addresses) } catch StorageError.unsupported {
            throw ConformanceFailure(
                "values of several folders cannot be changed together; a store like that declares LD_STORE_FOLDERS_APART"
            )
        }
        for address in addresses {
            let found = try store.store.get(store.handle(address))
            try expect(
                found == Data(address.name.utf8),
                "'\(address.name)', set together with values of other folders: found \(found.shown)")
        }
    }
}
