// One import for an app: the keys and policies of the API, and the router of the host.
@_exported public import LocalDataAPI
@_exported public import LocalDataHost
