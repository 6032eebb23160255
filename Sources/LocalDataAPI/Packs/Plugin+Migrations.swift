internal import CLocalData

extension Plugin.Component {
    /// A migration pack.
    public static func migrations<Pack: MigrationPack>(_ pack: Pack.Type) -> Plugin.Component {
        Plugin.Component(LD_KIND_MIGRATION, pack.component) {
            UnsafeRawPointer(try MigrationExport(Pack(options: $0, host: $1)).table)
        }
    }
}
