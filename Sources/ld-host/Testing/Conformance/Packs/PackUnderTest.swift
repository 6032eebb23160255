internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI
internal import Synchronization

/// The pack of one check: opened for it, and closed after it.
final class PackUnderTest: Sendable {
    /// The result of calling a migration.
    struct Run: Sendable {
        let status: Int32
        let reports: [StorageError]
        let written: [Data]
        let transaction: RecordedTransaction.State

        /// The result, if the migration wrote a valid one.
        var result: MigrationResult? {
            guard status == LD_OK, written.count == 1, let data = written.first else { return nil }
            return try? MigrationResult(boundary: data)
        }

        var succeeded: Bool { result?.success == true }

        /// Whether another run had the same effects.
        func isAlike(_ other: Run) -> Bool {
            status == other.status && reports == other.reports && written == other.written
                && transaction.staged == other.transaction.staged
        }
    }

    let subject: ConformanceSubject
    let pack: LoadedPack
    private let folder: String
    /// Kept because a faulty pack may keep a transaction.
    private let transactions = Mutex<[RecordedTransaction]>([])

    init(_ subject: ConformanceSubject, folder: String) throws(StorageError) {
        self.subject = subject
        self.folder = folder
        pack = try subject.openPack(in: folder)
    }

    /// Opens another one with the same options; the caller must end it.
    func another() throws(StorageError) -> PackUnderTest { try PackUnderTest(subject, folder: folder) }

    func end() { pack.close() }

    /// The indices of the migrations of a single key.
    var migrations: [Int] { pack.list.indices.filter { pack.list[$0].bulk == nil } }

    /// The indices of the bulk migrations that convert.
    var converting: [Int] { pack.list.indices.filter { pack.list[$0].bulk?.converts == true } }

    /// A migration's name in messages.
    func name(_ index: Int) -> String {
        pack.list.indices.contains(index) ? "'\(pack.list[index].id)'" : "the migration at \(index)"
    }

    /// Values for a migration's sources, or for what it removes, as far as their types are declared.
    func values(for index: Int) -> [String: Data] {
        let description = pack.list[index]
        let keys =
            description.sources + (description.effect == .removes ? [description.destination].compactMap(\.self) : [])
        return Dictionary(keys.map { ($0.address, PackValue.sample(of: $0.descriptor)) }, uniquingKeysWith: { $1 })
    }

    /// Evaluates a migration's condition.
    func condition(_ index: Int, _ conduct: RecordedTransaction.Conduct) throws -> Run {
        try run(conduct) { table, transaction, context, _, error in
            table.should_migrate?(table.`self`, index, transaction, context, error)
        }
    }

    /// Runs a migration.
    func migrate(_ index: Int, _ conduct: RecordedTransaction.Conduct) throws -> Run {
        try run(conduct) { table, transaction, context, sink, error in
            table.migrate?(table.`self`, index, transaction, context, sink, error)
        }
    }

    /// Converts a value.
    func convert(_ index: Int, _ value: Data) -> Observation {
        Observation { sink, error in
            "a name".withBytes { name in
                value.withUnsafeBytes { value in
                    pack.table.convert?(pack.table.`self`, index, name, ld_bytes(value), sink, error) ?? LD_FAILED
                }
            }
        }
    }

    private func run(
        _ conduct: RecordedTransaction.Conduct,
        _ call: (
            ld_migration_pack, UnsafePointer<ld_migration_transaction>, ld_bytes, UnsafePointer<ld_sink>,
            UnsafePointer<ld_error_sink>
        ) -> Int32?
    ) throws -> Run {
        let transaction = RecordedTransaction(conduct)
        transactions.withLock { $0.append(transaction) }
        let context = try Self.context.boundary()
        if conduct.isCancelled { pack.table.cancel?(pack.table.`self`, transaction.number) }
        let observed = context.withUnsafeBytes { context in
            transaction.lend { table in
                Observation { sink, error in call(pack.table, table, ld_bytes(context), sink, error) ?? LD_FAILED }
            }
        }
        return Run(
            status: observed.status, reports: observed.reports, written: observed.pieces,
            transaction: transaction.record)
    }

    /// The number of calls to transactions that had ended.
    var callsAfterTheEnd: Int {
        transactions.withLock { $0.reduce(0) { $0 + $1.record.callsAfterTheEnd } }
    }

    /// The same for every call, so that only the pack can cause differences.
    private static let context = MigrationContext(
        appVersion: "2.0.0", dataVersion: "1.0.0",
        deviceInfo: DeviceInfo(platform: .linux, role: .all, systemVersion: "6.1", model: "x86_64"),
        userPreferences: ["theme": "dark"],
        systemInfo: SystemInfo(availableDiskSpace: 1 << 40, availableMemory: 1 << 32))
}

/// Sample values for the sources of migrations whose code the kit does not know.
enum PackValue {
    /// Letters of no language, so that a message cannot contain them by chance.
    static let text = "xqzvkjwq7391hbnmtrpl5520gfdsqkxz"

    /// A value of a key in its serializer's format: of the key's type if that is a simple one, otherwise an empty
    /// dictionary.
    static func sample(of key: StorageKeyDescriptor) -> Data {
        // Each value is different, so that a misplaced one is noticed.
        let text = "\(text) \(key.name)"
        return switch key.serializer {
        case .text, .data, .custom: Data(text.utf8)
        case .json: encoded(text, key.valueType, Sample.json) ?? Data("{}".utf8)
        case .plist: encoded(text, key.valueType, Sample.plist) ?? Data()
        }
    }

    private enum Sample { case json, plist }

    private static func encoded(_ text: String, _ type: String, _ form: Sample) -> Data? {
        func encode<Value: Codable & Sendable>(_ value: Value) -> Data? {
            form == .json ? try? Serializer<Value>.json.encode(value) : try? Serializer<Value>.plist.encode(value)
        }
        return switch type {
        case "String": encode(text)
        case "Bool": encode(true)
        case "Int", "Int64", "Int32", "UInt", "UInt64", "UInt32": encode(7)
        case "Double", "Float": encode(1.5)
        case "Array<String>": encode([text])
        case "Data": encode(Data(text.utf8))
        default: encode([String: String]())
        }
    }
}
