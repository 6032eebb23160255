internal import LocalDataAPI

extension Diagnosis {
    static func unmovedValues(_ snapshot: RouterSnapshot, besides silent: Set<String>) async -> [Finding] {
        let found = try? await onIOThread { () throws(StorageError) in UnmovedValues.all(snapshot, besides: silent) }
        return (found ?? []).map { Finding($0.text, hint: $0.hint) }
    }
}
