internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let packOpening = "lifecycle.open"

    static let packList: [ConformanceCheck] = [
        ConformanceCheck(pack: packOpening, "the pack opens with its options, and its list is well formed") { pack in
            try expect(!pack.pack.list.isEmpty, "the pack lists no migration")
        },
        ConformanceCheck(pack: "lifecycle.options", "every option has a unique name and a line of help") { pack in
            try pack.subject.expectTidyOptions()
        },
        ConformanceCheck(
            pack: "list.same", "a pack that is opened again with the same options lists the same migrations"
        ) { pack in
            let other = try pack.another()
            defer { other.end() }
            try expect(
                Data(pack.pack.table.migrations.bytes()) == Data(other.pack.table.migrations.bytes()),
                "opened twice it lists \(pack.pack.list.map(\.id)) and \(other.pack.list.map(\.id)), or describes "
                    + "them differently")
        },
        ConformanceCheck(pack: "list.summaries", "a migration's summary is one line") { pack in
            for description in pack.pack.list {
                try expect(
                    !description.summary.unicodeScalars.contains { $0.properties.generalCategory == .control },
                    "the summary of '\(description.id)' has a line break or another control character")
            }
        },
        ConformanceCheck(pack: "list.valid", "every migration is valid by its own check") { pack in
            guard let validate = pack.pack.table.validate else { return }
            for index in pack.pack.list.indices {
                let observed = Observation { _, error in validate(pack.pack.table.`self`, index, error) }
                try expect(
                    observed.status == LD_OK,
                    "validate of \(pack.name(index)) returned \(observed.status): "
                        + (observed.reports.first?.message ?? "no report"))
            }
        },
        ConformanceCheck(pack: "list.end", "an index beyond the list is refused") { pack in
            let end = pack.pack.list.count
            guard !pack.migrations.isEmpty else { return }
            for index in [end, end + 1, Int(Int32.max), Int.max] {
                for run in [try pack.condition(index, .init()), try pack.migrate(index, .init())] {
                    try expect(run.status == LD_FAILED, "a call of \(pack.name(index)) returned \(run.status)")
                }
            }
        },
    ]
}
