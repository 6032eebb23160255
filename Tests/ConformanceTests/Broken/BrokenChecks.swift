import LocalDataAPI
import LocalDataTesting

enum BrokenChecks {
    final class ReportsHealth: CorrectStore, @unchecked Sendable {
        override func check(_ report: (String) -> Bool) throws { _ = report("everything is in order") }
    }

    final class Repairs: CorrectStore, @unchecked Sendable {
        override func check(_ report: (String) -> Bool) throws {
            var places: [StorageNamespace] = []
            try forEachPlace {
                places.append($0)
                return true
            }
            for place in places { _ = try remove(StorageAddress(place, name: "small")) }
        }
    }
}
