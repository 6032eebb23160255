import FoundationEssentials
import LocalDataAPI
import LocalDataTesting

enum BrokenVerification {
    final class SuspectsEdits: CorrectStore, @unchecked Sendable {
        override func verify(_ key: StorageAddress) throws -> ValueState? { try exists(key) ? .edited : nil }
    }

    final class VerifiesNothing: CorrectStore, @unchecked Sendable {
        override func verify(_ key: StorageAddress) throws -> ValueState? {
            key.place.scope.hasPrefix("expiry.") ? try super.verify(key) : .intact
        }
    }
}

enum BrokenWiping {
    final class KeepsCopies: CorrectStore, @unchecked Sendable {
        private let copy: String

        required init(options: ComponentOptions, host: HostServices) throws {
            copy = try options.string("root")
            try super.init(options: options, host: host)
        }

        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            try super.set(key, to: value, attributes: attributes)
            guard key.name.hasPrefix("removed ") else { return }
            let file = URL(filePath: "\(copy)/\(key.name)")
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
            try value.withUnsafeBytes { try Data($0).write(to: file) }
        }
    }

    final class WipesAll: CorrectStore, @unchecked Sendable {
        override func wipe(_ place: StorageNamespace) throws {
            var names: [String] = []
            try forEachName(in: place, prefix: "", after: nil, limit: nil) {
                names.append($0)
                return true
            }
            for name in names { _ = try remove(StorageAddress(place, name: name)) }
        }
    }
}
