import FoundationEssentials
import ReaderExercise

/// A kind of input from outside, and the promises of its readers for any bytes: they return or throw and never trap,
/// two ways to read the same bytes agree, and accepted input encodes back.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// Sealed values.
    case envelope
    /// Frames of `ld-host pipe`.
    case pipe
    /// The configuration: JSON5, editor, key paths, schema.
    case configuration
    /// Key rings, pages of the migration ledger and records of bulk migrations.
    case rings
    /// Journals: intents of the host, batches of the file store, staged changes.
    case journals
    /// Property lists, through the reader of migrations and through the serializer.
    case propertyLists = "property-lists"
    /// Manifests of migrations, with the JSON that they are written in.
    case manifests
    /// Requests of git and Docker.
    case credentials
    /// Contents of sync records, and the data that sync keeps about keys, its progress and the other devices.
    case sync
    /// Entries of a sync group's log, in signed and in published form, and codes of invitations.
    case group
    /// Segments of a folder that a program copies between devices: their names, headers and frames; and positions.
    case segments
    /// Answers of a NATS server, and positions in its streams.
    case stream

    /// Gives bytes to the readers. The bytes are borrowed for the call.
    ///
    /// - Throws: `Violation`.
    package func run(_ bytes: UnsafeRawBufferPointer) throws {
        switch self {
        case .envelope: try Self.envelopes.get().run(bytes)
        case .pipe: try PipeExercise.run(bytes)
        case .configuration: try ConfigurationExercise.run(Array(bytes))
        case .rings: try RingExercise.run(Data(bytes))
        case .journals: try JournalExercise.run(Array(bytes))
        case .propertyLists: try PropertyListExercise.run(Data(bytes))
        case .manifests: try ManifestExercise.run(Array(bytes))
        case .credentials: try CredentialExercise.run(bytes)
        case .sync: try SyncExercise.run(Data(bytes))
        case .group: try Self.groups.get().run(Data(bytes))
        case .segments: try SegmentExercise.run(Data(bytes))
        case .stream: try StreamExercise.run(Data(bytes))
        }
    }

    /// Valid inputs, written by the current encoders: mutations start from these and from the corpus.
    package func samples() throws -> [[UInt8]] {
        switch self {
        // Its corpus was grown from the envelopes of its tests.
        case .envelope: []
        case .pipe: PipeExercise.samples
        case .configuration: ConfigurationExercise.samples
        case .rings: try RingExercise.samples()
        case .journals: try JournalExercise.samples()
        case .propertyLists: try PropertyListExercise.samples()
        case .manifests: ManifestExercise.samples
        case .credentials: CredentialExercise.samples
        case .sync: SyncExercise.samples
        case .group: try Self.groups.get().samples
        case .segments: try SegmentExercise.samples()
        case .stream: StreamExercise.samples
        }
    }

    private static let envelopes = Result { try EnvelopeExercise.withGuessableTags() }
    private static let groups = Result { try GroupExercise() }
}
