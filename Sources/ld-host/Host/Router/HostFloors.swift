// A program that imports the host has the public declarations of its floors, too.
@_exported public import HostGround
@_exported public import HostMigration
@_exported public import HostPlugins
@_exported public import HostSealing
@_exported public import HostStores
@_exported public import HostSync
@_exported public import HostTransfer
