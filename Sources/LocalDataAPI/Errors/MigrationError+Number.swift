/// The numbers that stand for a migration's errors at the plugin boundary (`ld_error_code` in the C header). None is
/// the number of a ``StorageError/Code``.
extension MigrationError.Code {
    /// The number; that of `transformationFailed` for a code of an app's own.
    package var number: Int32 {
        Self.numbered.firstIndex(of: self).map { Self.first + Int32($0) } ?? Self.first + 1
    }

    /// The code of a number; `nil` if it is none of a migration's.
    package init?(number: Int32) {
        guard number >= Self.first, Int(number - Self.first) < Self.numbered.count else { return nil }
        self = Self.numbered[Int(number - Self.first)]
    }

    private static let first: Int32 = 64

    // In the order of the numbers; only added to.
    private static let numbered: [Self] = [
        .validationFailed, .transformationFailed, .storageFailed, .conditionalMigrationFailed, .migrationInProgress,
        .sourceDataNotFound, .incompatibleTypes, .aggregationFailed, .decodingFailed, .pathNotFound,
        .finalTypeMismatch, .conflict, .newerRevision, .unresolvedDependency, .packUnavailable,
    ]
}
