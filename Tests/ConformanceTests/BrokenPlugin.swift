import Testing

/// A variant of `PluginFixtures/shared.c` that breaks one promise, and the check that must find it.
struct BrokenPlugin: Sendable, CustomTestStringConvertible {
    let check: String
    let variant: String

    var testDescription: String { "\(variant) breaks \(check)" }

    static let all = [
        BrokenPlugin(check: "boundary.reports", variant: "BROKEN_REPORTS"),
        BrokenPlugin(check: "boundary.stops", variant: "BROKEN_STOPS"),
        BrokenPlugin(check: "boundary.sizes", variant: "BROKEN_SIZES"),
        BrokenPlugin(check: "boundary.abilities", variant: "BROKEN_ABILITIES"),
        BrokenPlugin(check: "durable.kill", variant: "BROKEN_BUFFERS"),
        BrokenPlugin(check: "shared.sees", variant: "BROKEN_CACHES"),
        BrokenPlugin(check: "shared.whole", variant: "BROKEN_IN_PLACE"),
        BrokenPlugin(check: "shared.writers", variant: "BROKEN_TEMPORARY"),
        BrokenPlugin(check: "shared.watch", variant: "BROKEN_DEAF"),
    ]
}
