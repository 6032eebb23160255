/// The numbers of migration errors at the plugin boundary (`ld_error_code` in the C header). They do not overlap with
/// those of ``StorageError/Code``.
extension MigrationError.Code {
    /// The number; an app's own code has that of `transformationFailed`.
    package var number: Int32 {
        Self.numbered.firstIndex(of: self).map { Self.first + Int32($0) } ?? Self.first + 1
    }

    /// The code with this number; `nil` if the number is not a migration error's.
    package init?(number: Int32) {
        guard number >= Self.first, Int(number - Self.first) < Self.numbered.count else { return nil }
        self = Self.numbered[Int(number - Self.first)]
    }

    private static let first: Int32 = 64

    // In the order of their numbers; only ever appended to.
    private static let numbered: [Self] = [
        .validationFailed, .transformationFailed, .storageFailed, .conditionalMigrationFailed, .migrationInProgress,
        .sourceDataNotFound, .incompatibleTypes, .aggregationFailed, .decodingFailed, .pathNotFound,
        .finalTypeMismatch, .conflict, .newerRevision, .unresolvedDependency, .packUnavailable, .ambiguous,
        .newerVersion, .converterCycle, .duplicateConverter,
    ]
}
