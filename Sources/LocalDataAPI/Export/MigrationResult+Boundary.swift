package import FoundationEssentials

/// A result as JSON; see `migrate` in the header.
private struct ResultForm: Codable {
    struct Failure: Codable {
        let code: Int32
        var message: String?
        var hint: String?
    }

    struct MigrationFailure: Codable {
        let code: Int32
        var message: String?
        var hint: String?
        var underlying: Failure?
    }

    let success: Bool
    var migratedCount: Int?
    var errors: [MigrationFailure]?
    var metadata: [String: AnyCodable]?
}

extension MigrationResult {
    /// The result that crossed the boundary.
    ///
    /// - Throws: `deserializationFailed` if the JSON is not a result.
    package init(boundary json: Data) throws(StorageError) {
        guard json.count <= Self.largestForm else {
            throw StorageError(
                .valueTooLarge, "a migration's result has \(json.count) bytes; expected at most \(Self.largestForm)")
        }
        let form: ResultForm
        do { form = try JSONCoding.decode(ResultForm.self, from: json) } catch {
            throw StorageError(
                .deserializationFailed, "a migration's result is malformed: \(CodingFailure(error))",
                hint: "see migrate of ld_migration_pack in the header")
        }
        guard form.migratedCount ?? 0 >= 0 else {
            throw StorageError(.deserializationFailed, "a migration's result has a negative count")
        }
        self.init(
            success: form.success, migratedCount: form.migratedCount ?? 0,
            errors: (form.errors ?? []).map { failure in
                let underlying = failure.underlying.map {
                    StorageError(StorageError.Code.reported($0.code), $0.message ?? "", hint: $0.hint ?? "")
                }
                return MigrationError(
                    number: failure.code, failure.message ?? "", hint: failure.hint ?? "", underlying: underlying)
            }, metadata: form.metadata ?? [:])
    }

    /// The result for the other side.
    package func boundary() throws(StorageError) -> Data {
        let form = ResultForm(
            success: success, migratedCount: migratedCount,
            errors: errors.map { error in
                ResultForm.MigrationFailure(
                    code: error.code.number, message: error.message,
                    underlying: error.underlying.map {
                        ResultForm.Failure(code: $0.code.rawValue, message: $0.message, hint: $0.hint)
                    })
            }, metadata: metadata)
        do { return try JSONCoding.encode(form) } catch {
            throw StorageError(
                .serializationFailed, "a migration's result cannot be encoded as JSON: \(CodingFailure(error))")
        }
    }

    private static let largestForm = 1 << 20
}

extension MigrationError {
    /// The error with a number that crossed the boundary; a storage error becomes the underlying error of
    /// `storageFailed`.
    package init(number: Int32, _ message: String, hint: String, underlying: StorageError? = nil) {
        if let code = Code(number: number) {
            self.init(code, message, underlying: underlying)
        } else {
            let error = StorageError(StorageError.Code.reported(number), message, hint: hint)
            self.init(.storageFailed, error.message, underlying: error)
        }
    }
}
