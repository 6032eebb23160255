import Testing

/// A way in which `PluginFixtures/pack.c` breaks one promise of a migration pack, and the check that must find it. The
/// pack is in C, because many of the faults are ones that a Swift type cannot make at the boundary.
struct BrokenPack: Sendable, CustomTestStringConvertible {
    /// The check's id without `pack.`.
    let check: String
    /// The value of the option `breaks`.
    let way: String
    let component: String

    var testDescription: String { "\(component) \(way) breaks \(check)" }

    private init(_ check: String, _ way: String, component: String = "c-pack") {
        self.check = check
        self.way = way
        self.component = component
    }

    static let all = [
        BrokenPack("lifecycle.open", "never-opens"),
        BrokenPack("lifecycle.options", "", component: "untidy"),
        BrokenPack("list.same", "counts-opens"),
        BrokenPack("list.summaries", "two-lines"),
        BrokenPack("list.valid", "never-valid"),
        BrokenPack("list.end", "any-index"),
        BrokenPack("condition.reads", "condition-writes"),
        BrokenPack("condition.repeats", "condition-counts"),
        BrokenPack("run.effect", "writes-elsewhere"),
        BrokenPack("run.repeats", "remembers"),
        BrokenPack("run.result", "no-json"),
        BrokenPack("run.failures", "swallows"),
        BrokenPack("run.cancelled", "ignores-cancel"),
        BrokenPack("boundary.reports", "loud-success"),
        BrokenPack("boundary.thread", "other-thread"),
        BrokenPack("boundary.end", "keeps-transaction"),
        BrokenPack("threads.at-once", "shared-memory"),
        BrokenPack("convert.repeats", "convert-counts"),
        BrokenPack("secrets.texts", "shows-value"),
    ]
}
