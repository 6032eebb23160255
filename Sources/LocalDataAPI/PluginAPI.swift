// Who imports `LocalDataAPI` has what a plugin links, too.
@_exported public import LocalDataPluginAPI
