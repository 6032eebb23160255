// Who imports `LocalDataTesting` has the conformance kit, too.
@_exported public import ConformanceKit
