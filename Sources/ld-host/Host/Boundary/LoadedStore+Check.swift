internal import CLocalData
package import LocalDataAPI

extension LoadedStore {
    /// Has the store look for damage in what it keeps, and hands out a line for each thing that is wrong, until `body`
    /// returns `false`. May take long.
    ///
    /// - Throws: `unsupported` if the store cannot look, and whatever it reports.
    package func check(_ body: (String) -> Bool) throws(StorageError) {
        guard let check = abilities.check else { throw lacks("checks") }
        _ = try PieceSink.forEach({ body(String(decoding: $0, as: UTF8.self)) }) { (sink) throws(StorageError) in
            try ReportSink.call { check.check(table.`self`, sink, $0) }
        }
    }
}
