import FoundationEssentials
import LocalDataAPI
import LocalDataTesting
import Synchronization

enum BrokenValues {
    final class DropsEmptyValues: CorrectStore, @unchecked Sendable {
        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            if value.isEmpty { _ = try remove(key) } else { try super.set(key, to: value, attributes: attributes) }
        }
    }

    final class TrimsLineFeeds: CorrectStore, @unchecked Sendable {
        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            let endsSo = value.withUnsafeBytes { $0.last == 10 }
            try super.set(key, to: value.extracting(droppingLast: endsSo ? 1 : 0), attributes: attributes)
        }
    }

    final class CutsAtABoundary: CorrectStore, @unchecked Sendable {
        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            let isCut = value.byteCount == 16_385
            try super.set(key, to: value.extracting(droppingLast: isCut ? 1 : 0), attributes: attributes)
        }
    }

    final class CutsLargeValues: CorrectStore, @unchecked Sendable {
        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            let isCut = value.byteCount > 2 << 20 && value.byteCount <= Self.limit
            try super.set(key, to: isCut ? value.extracting(first: 2 << 20) : value, attributes: attributes)
        }
    }

    final class LosesTheOldValue: CorrectStore, @unchecked Sendable {
        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            if value.byteCount > Self.limit { _ = try remove(key) }
            try super.set(key, to: value, attributes: attributes)
        }
    }

    final class KeepsThePointer: CorrectStore, @unchecked Sendable {
        private let kept = Mutex<[StorageAddress: UInt]>([:])

        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            let address = value.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            kept.withLock { $0[key] = value.byteCount == 4099 ? address : nil }
            try super.set(key, to: value, attributes: attributes)
        }

        override func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) throws -> Bool {
            guard let address = kept.withLock({ $0[key] }) else { return try super.get(key, deliver) }
            deliver(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: 4099).bytes)
            return true
        }
    }

    final class LogsValues: CorrectStore, @unchecked Sendable {
        private let log: any StorageLogHandler

        required init(options: ComponentOptions, host: HostServices) throws {
            log = host.log
            try super.init(options: options, host: host)
        }

        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            if value.byteCount < 1000 {
                let text = value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                log(.debug, "store", "storing '\(text)' under '\(key)'")
            }
            try super.set(key, to: value, attributes: attributes)
        }
    }
}
