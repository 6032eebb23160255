import LocalDataPluginAPI

extension PostgreSQLStore: ConditionalBackend {
    func get(_ key: PostgreSQLKey, _ deliver: (UInt64, ValueAttributes, RawSpan) -> Void) throws -> Bool {
        try value(key, .describedValue) { deliver(UInt64(bitPattern: $0.revision), $0.attributes, $1) } != nil
    }

    func set(
        _ key: PostgreSQLKey, to value: RawSpan, attributes: ValueAttributes?, if condition: WriteCondition
    ) throws -> UInt64? {
        try check(value.byteCount)
        let changed = try value.withUnsafeBytes { bytes in
            try change(
                [Write(key, .set(bytes, attributes), if: Write.Condition(condition))], "writing '\(key.address)'")
        }
        return changed.failed.isEmpty ? UInt64(bitPattern: changed.revision) : nil
    }

    func remove(_ key: PostgreSQLKey, ifRevision revision: UInt64) throws -> Bool {
        let condition = Write.Condition.revision(Int64(bitPattern: revision))
        return try change([Write(key, .remove, if: condition)], "removing '\(key.address)'").failed.isEmpty
    }
}
