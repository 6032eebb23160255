import LocalDataAPI
import Testing

/// A rule of the boundary that the fixture breaks, the call in which it does so, and the host's reaction.
struct HostileCase: Sendable, CustomTestStringConvertible {
    enum Component: String, Sendable { case store, crypto, sync, pack }

    let component: Component
    /// The option `mode` of the fixture.
    let mode: String
    let operation: String
    /// `nil` if the call must succeed anyway.
    let code: StorageError.Code?
    /// In the error's message, or in the log if the call succeeds.
    let text: String

    var testDescription: String { "\(component) \(mode): \(operation)" }

    init(
        _ component: Component, _ mode: String, _ operation: String, _ code: StorageError.Code?, _ text: String
    ) {
        self.component = component
        self.mode = mode
        self.operation = operation
        self.code = code
        self.text = text
    }

    /// Invalid bytes, and the words that describe them.
    static let flaws = [
        ("max", "18446744073709551615 bytes"), ("min", "9223372036854775808 bytes"),
        ("intmax", "9223372036854775807 bytes"), ("huge", "35184372088832 bytes"),
        ("null", "5 bytes at the address NULL"),
        ("nullmax", "18446744073709551615 bytes at the address NULL"), ("beyond", "where this process has less memory"),
    ]

    private static func flawed(
        _ component: Component, _ channel: String, _ operation: String, _ code: StorageError.Code? = .corrupt
    ) -> [HostileCase] {
        flaws.map { flaw, text in
            // Some texts have their own limits, which are checked first.
            let limited = ["attr-", "key-s", "position"]
            let isLong = flaw == "beyond" && limited.contains { channel.hasPrefix($0) }
            return HostileCase(component, "\(channel):\(flaw)", operation, code, isLong ? "33554432 bytes" : text)
        }
    }

    /// Return values that are not allowed for a function.
    private static func answers(
        _ component: Component, _ function: String, _ operation: String, mayBeAbsent: Bool = false
    ) -> [HostileCase] {
        var cases = [
            HostileCase(
                component, "\(function)=2", operation,
                component == .crypto || component == .sync ? .unknown : .cancelled,
                "without being asked to"),
            HostileCase(component, "\(function)=7", operation, .unknown, "the invalid status 7"),
            HostileCase(component, "\(function)=silent", operation, .unknown, "without reporting an error"),
            HostileCase(component, "\(function)=ok+report", operation, .unknown, "returned status 0"),
            HostileCase(component, "\(function)=two", operation, .busy, "more than one failure; the first: first"),
        ]
        // The host has internal numbers for errors that never leave it.
        cases += [-3, 0, Int(Int32.min)].map {
            HostileCase(component, "\(function)=code\($0)", operation, .unknown, "the invalid error code \($0): said")
        }
        cases.append(
            mayBeAbsent
                ? HostileCase(component, "\(function)=absent+report", operation, .unknown, "returned status 1")
                : HostileCase(component, "\(function)=1", operation, .unknown, "the invalid status 1"))
        return cases
    }

    /// Every fault that a store can have.
    static let store: [HostileCase] = {
        var cases: [HostileCase] = []
        for (channel, operation) in [
            ("get", "get"), ("read", "read"), ("names", "names"), ("places", "places"), ("bulk-name", "bulk"),
            ("bulk-value", "bulk"), ("attr-type", "attributes"), ("attr-owner", "bulk"), ("check", "check"),
            ("tx-get", "tx-get"),
            ("attr-tag", "cond-get"), ("cond-value", "cond-get"), ("expired", "expired"),
        ] {
            cases += flawed(.store, channel, operation)
        }
        cases +=
            flawed(.store, "message", "get", .busy)
            + flawed(.store, "hint", "set", .busy).map {
                HostileCase(.store, $0.mode, $0.operation, .busy, "said")
            }
        cases += flaws.map { HostileCase(.store, "watch:\($0.0)", "watch", nil, "") }
        cases += flaws.map { HostileCase(.store, "log-message:\($0.0)", "exists", nil, $0.1) }
        cases += flaws.map { HostileCase(.store, "log-label:\($0.0)", "exists", nil, $0.1) }
        cases += flaws.map { HostileCase(.store, "extension-id:\($0.0)", "exists", nil, "") }
        for (function, operation) in [
            ("resolve", "get"), ("set", "set"), ("names", "names"), ("places", "places"), ("write", "write"),
            ("batch", "batch"), ("begin", "tx-get"), ("tx-set", "tx-set"), ("commit", "commit"), ("check", "check"),
            ("watch", "watch"), ("bulk-read", "bulk"), ("bulk-apply", "bulk-apply"),
            ("sweep", "sweep"), ("expired", "expired"),
        ] {
            cases += answers(.store, function, operation)
        }
        for (function, operation) in [
            ("exists", "exists"), ("remove", "remove"), ("tx-remove", "tx-remove"),
            ("cond-set", "cond-set"), ("cond-remove", "cond-remove"), ("lock", "lock"), ("held", "held"),
        ] {
            cases += answers(.store, function, operation, mayBeAbsent: true)
        }
        return cases + storeRules
    }()

    private static let storeRules: [HostileCase] = [
        HostileCase(.store, "get=code-3", "get", .unknown, "the invalid error code -3: said"),
        HostileCase(.store, "attributes=code-3", "attributes", .unknown, "the invalid error code -3: said"),
        HostileCase(.store, "cond-get=code-3", "cond-get", .unknown, "the invalid error code -3: said"),
        HostileCase(.store, "read=code-3", "read", .unknown, "the invalid error code -3: said"),
        HostileCase(.store, "get=code1000", "get", StorageError.Code(rawValue: 1000), "said"),
        HostileCase(.store, "get=2", "get", .cancelled, "without being asked to"),
        HostileCase(.store, "get=-9", "get", .unknown, "it failed (-9) without reporting an error"),
        HostileCase(.store, "get-bad-then-good", "get", .corrupt, "5 bytes at the address NULL"),
        HostileCase(.store, "get-twice", "get", .corrupt, "two values to a sink for one"),
        HostileCase(.store, "get-nothing", "get", .unknown, "did not write it"),
        HostileCase(.store, "get-absent-written", "get", .corrupt, "wrote a value but returned status 1"),
        HostileCase(.store, "get-foreign", "get", .unknown, "did not write it"),
        HostileCase(.store, "get-null-context", "get", .unknown, "did not write it"),
        HostileCase(.store, "get-all-ones", "get", .unknown, "did not write it"),
        HostileCase(.store, "get-thread", "get", nil, "used a sink on a thread other than its call's"),
        HostileCase(.store, "get-late", "get", nil, ""),
        HostileCase(.store, "get-late", "get twice", nil, "used a sink after its call had returned"),
        HostileCase(.store, "get-later", "get and exists", nil, "used a sink after its call had returned"),
        HostileCase(.store, "get-later", "get and close", nil, ""),
        HostileCase(.store, "read=2", "read", .cancelled, "without being asked to"),
        HostileCase(.store, "read=ok+report", "read", .unknown, "returned status 0"),
        HostileCase(.store, "read-absent", "read", .corrupt, "wrote a value but returned status 1"),
        HostileCase(.store, "write-noread", "write", .corrupt, "without having read it to its end"),
        HostileCase(.store, "write-partial", "write", .corrupt, "without having read it to its end"),
        HostileCase(.store, "write-zero", "write", .corrupt, "it requested 0 bytes"),
        HostileCase(.store, "write-null", "write", .corrupt, "it requested 100 bytes at the address NULL"),
        HostileCase(.store, "write-max", "write", .corrupt, "it requested 18446744073709551615 bytes"),
        HostileCase(.store, "write-min", "write", .corrupt, "it requested 9223372036854775808 bytes"),
        HostileCase(.store, "write-foreign", "write", .corrupt, "without having read it to its end"),
        HostileCase(.store, "write-huge", "write", nil, ""),
        HostileCase(.store, "write-again", "write", nil, ""),
        HostileCase(.store, "write-late", "write twice", nil, "used a sink after its call had returned"),
        HostileCase(.store, "names-order", "names", .corrupt, "it passed 'p0'"),
        HostileCase(.store, "names-repeat", "names", .corrupt, "not follow 'p1'"),
        HostileCase(.store, "names-shorter", "names", .corrupt, "it passed 'p'"),
        HostileCase(.store, "names-prefix", "names", .corrupt, "does not start with 'p'"),
        HostileCase(.store, "names-nul", "names", .corrupt, "a NUL byte"),
        HostileCase(.store, "names-empty", "names", .corrupt, "an empty name"),
        HostileCase(.store, "names-utf8", "names", .corrupt, "not UTF-8"),
        HostileCase(.store, "names-surrogate", "names", .corrupt, "not UTF-8"),
        HostileCase(.store, "names-long", "names", .corrupt, "a name of 1025 bytes"),
        HostileCase(.store, "names-limit", "names", .corrupt, "more names"),
        HostileCase(.store, "names-deaf", "first name", nil, ""),
        HostileCase(.store, "names-order", "names after p5", .corrupt, "not follow 'p5'"),
        HostileCase(.store, "places-utf8", "places", .corrupt, "not UTF-8"),
        HostileCase(.store, "places-empty", "places", .corrupt, "an invalid namespace"),
        HostileCase(.store, "places-domain", "places", .corrupt, "the domain '../etc' is invalid"),
        HostileCase(.store, "places-nul", "places", .corrupt, "an invalid namespace"),
        HostileCase(.store, "places-long", "places", .corrupt, "an invalid namespace"),
        HostileCase(.store, "places-repeat", "places", .corrupt, "'userDefaults:a' twice"),
        HostileCase(.store, "attributes=2", "attributes", .cancelled, "without being asked to"),
        HostileCase(.store, "attr-long", "attributes", .corrupt, "65537 bytes; expected at most 65536"),
        HostileCase(.store, "attr-size", "attributes", .corrupt, "a size of 18446744073709551615 bytes"),
        HostileCase(.store, "attr-struct-small", "attributes", .corrupt, "a struct of 2 bytes"),
        HostileCase(.store, "attr-struct-large", "attributes", .corrupt, "a struct of 4294967295 bytes"),
        HostileCase(.store, "attr-null", "attributes", .corrupt, "attributes at the address NULL"),
        HostileCase(.store, "attr-nothing", "attributes", .corrupt, "passed no attributes"),
        HostileCase(.store, "attr-twice", "attributes", .corrupt, "attributes twice"),
        HostileCase(.store, "attr-absent", "attributes", .corrupt, "returned status 1"),
        HostileCase(.store, "cond-get-zero", "cond-get", .corrupt, "the revision 0"),
        HostileCase(.store, "attr-size", "cond-get", .corrupt, "a size of 18446744073709551615 bytes"),
        HostileCase(.store, "attr-struct-large", "cond-get", .corrupt, "a struct of 4294967295 bytes"),
        HostileCase(.store, "cond-get-none", "cond-get", nil, ""),
        HostileCase(.store, "cond-get-nothing", "cond-get", .corrupt, "passed no value"),
        HostileCase(.store, "cond-get-twice", "cond-get", .corrupt, "two values for one"),
        HostileCase(.store, "cond-get-absent", "cond-get", .corrupt, "returned status 1"),
        HostileCase(.store, "cond-set-zero", "cond-set", .unknown, "the revision 0"),
        HostileCase(.store, "cond-set-same", "cond-set", .unknown, "the revision 9"),
        HostileCase(.store, "sweep-many", "sweep", .unknown, "removed 11 values"),
        HostileCase(.store, "sweep-max", "sweep", .unknown, "removed 18446744073709551615 values"),
        HostileCase(.store, "expired-utf8", "expired", .corrupt, "not UTF-8"),
        HostileCase(.store, "expired-empty", "expired", .corrupt, "an invalid name"),
        HostileCase(.store, "expired-nul", "expired", .corrupt, "an invalid name"),
        HostileCase(.store, "exists=3", "exists", nil, ""),
        HostileCase(.store, "attr-size", "bulk", .corrupt, "a size of 18446744073709551615 bytes"),
        HostileCase(.store, "attr-struct-large", "bulk", .corrupt, "a struct of 4294967295 bytes"),
        HostileCase(.store, "bulk-null", "bulk", .corrupt, "a value whose struct has 0 bytes"),
        HostileCase(.store, "bulk-small", "bulk", .corrupt, "has 8 bytes; expected 56 to 4096"),
        HostileCase(.store, "bulk-uneven", "bulk", .corrupt, "has 60 bytes; expected 56 to 4096, a multiple of 8"),
        HostileCase(.store, "bulk-newer", "bulk", nil, ""),
        HostileCase(.store, "bulk-mark", "bulk", .corrupt, "the mark 0"),
        HostileCase(.store, "bulk-larger", "bulk", .corrupt, "the limit was 8"),
        HostileCase(.store, "bulk-order", "bulk", .corrupt, "not follow 'p1'"),
        HostileCase(.store, "bulk-repeat", "bulk", .corrupt, "not follow 'p1'"),
        HostileCase(.store, "bulk-prefix", "bulk", .corrupt, "does not start with 'p'"),
        HostileCase(.store, "bulk-empty", "bulk", .corrupt, "an empty name"),
        HostileCase(.store, "bulk-nul", "bulk", .corrupt, "a NUL byte"),
        HostileCase(.store, "bulk-utf8", "bulk", .corrupt, "not UTF-8"),
        HostileCase(.store, "bulk-foreign", "bulk", nil, ""),
        HostileCase(.store, "conflict-max", "bulk-apply", .corrupt, "change 18446744073709551615 of 1"),
        HostileCase(.store, "conflict-count", "bulk-apply", .corrupt, "change 1 of 1"),
        HostileCase(.store, "conflict-many", "bulk-apply", .corrupt, "change 0 of 1"),
        HostileCase(.store, "conflict-foreign", "bulk-apply", .busy, "conflict"),
        HostileCase(.store, "conflict-ok", "bulk-apply", .unknown, "that all changes were made"),
        HostileCase(.store, "tx-get-twice", "tx-get", .corrupt, "two values to a sink for one"),
        HostileCase(.store, "tx-get=2", "tx-get", .cancelled, "without being asked to"),
        HostileCase(.store, "watch-late", "watch", nil, "reported a change after its watch had ended"),
        HostileCase(.store, "watch-foreign", "watch", nil, ""),
        HostileCase(.store, "extension-odd", "names", .unsupported, "does not offer"),
        HostileCase(.store, "open=1", "get", .unknown, "the invalid status 1"),
        HostileCase(.store, "open=2", "get", .cancelled, "without being asked to"),
        HostileCase(.store, "open=ok+report", "get", .unknown, "returned status 0"),
        HostileCase(.store, "open=silent", "get", .unknown, "without reporting an error"),
        HostileCase(.store, "open-null", "get", .pluginRefused, "table has 0 bytes"),
        HostileCase(.store, "open-odd", "get", .pluginRefused, "table has"),
        HostileCase(.store, "open-size", "get", .pluginRefused, "table has 4294967295 bytes"),
        HostileCase(.store, "open-small", "get", .pluginRefused, "table has 4 bytes"),
        HostileCase(.store, "open-latency", "get", .pluginRefused, "latency class 4294967295"),
        HostileCase(.store, "open-no-set", "get", .pluginRefused, "without the function 'set'"),
        HostileCase(.store, "log-level", "exists", nil, "error hostile: high"),
    ]

    /// Every fault that a sync transport can have.
    static let sync: [HostileCase] =
        flawed(.sync, "message", "publish", .busy) + flawed(.sync, "record-writer", "fetch")
        + flawed(.sync, "record-name", "fetch") + flawed(.sync, "record-content", "fetch")
        + flawed(.sync, "position", "fetch") + answers(.sync, "publish", "publish")
        + answers(.sync, "unpublish", "remove") + answers(.sync, "fetch", "fetch").filter { $0.mode != "fetch=2" }
        + answers(.sync, "subscribe", "subscribe") + syncRules

    private static let syncRules: [HostileCase] = [
        HostileCase(.sync, "", "fetch", nil, ""),
        HostileCase(.sync, "fetch=2", "fetch", .corrupt, "returned LD_STOPPED"),
        HostileCase(.sync, "fetch=-9", "fetch", .unknown, "it failed (-9) without reporting an error"),
        HostileCase(.sync, "fetch=0", "fetch", .unknown, "did not write the position"),
        HostileCase(.sync, "record-null", "fetch", .corrupt, "the struct of a record has 0 bytes"),
        HostileCase(.sync, "record-odd", "fetch", .corrupt, "the struct of a record"),
        HostileCase(.sync, "record-small", "fetch", .corrupt, "has 8 bytes; expected 56 to 4096"),
        HostileCase(.sync, "record-uneven", "fetch", .corrupt, "has 60 bytes; expected 56 to 4096, a multiple of 8"),
        HostileCase(.sync, "record-newer", "fetch", nil, ""),
        HostileCase(.sync, "record-case", "fetch", .corrupt, "'Writer' (6 bytes)"),
        HostileCase(.sync, "record-path", "fetch", .corrupt, "'../name' (7 bytes)"),
        HostileCase(.sync, "record-utf8", "fetch", .corrupt, "(2 bytes)"),
        HostileCase(.sync, "record-nul", "fetch", .corrupt, "(3 bytes)"),
        HostileCase(.sync, "record-empty", "fetch", .corrupt, "'' (0 bytes)"),
        HostileCase(.sync, "record-long", "fetch", .corrupt, "(65 bytes)"),
        HostileCase(.sync, "record-large", "fetch", .corrupt, "a record of 300000 bytes; its own limit is 262144"),
        HostileCase(.sync, "fetch-deaf", "fetch one", .corrupt, "after it was asked to stop"),
        HostileCase(.sync, "fetch-stopped", "fetch one", .corrupt, "returned LD_STOPPED"),
        HostileCase(.sync, "fetch-foreign", "fetch", nil, ""),
        HostileCase(.sync, "fetch-thread", "fetch", nil, "used a sink on a thread other than its call's"),
        HostileCase(.sync, "fetch-late", "fetch twice", nil, "used a sink after its call had returned"),
        HostileCase(.sync, "position-nothing", "fetch", .unknown, "did not write the position"),
        HostileCase(.sync, "position-empty", "fetch", .corrupt, "an empty position"),
        HostileCase(.sync, "position-long", "fetch", .corrupt, "4097 bytes; expected at most 4096"),
        HostileCase(.sync, "position-twice", "fetch", .corrupt, "two positions"),
        HostileCase(.sync, "position-first", "fetch", .corrupt, "a record after the position"),
        HostileCase(.sync, "position-failed", "fetch", .positionLost, "lost"),
        HostileCase(.sync, "notice-unknown", "subscribe", nil, "the unknown notice 77"),
        HostileCase(.sync, "notice-negative", "subscribe", nil, "the unknown notice -2147483648"),
        HostileCase(.sync, "notice-foreign", "subscribe", nil, ""),
        HostileCase(.sync, "notice-late", "subscribe", nil, "notified a subscriber after its subscription had ended"),
        HostileCase(.sync, "open-null", "fetch", .pluginRefused, "table has 0 bytes"),
        HostileCase(.sync, "open-size", "fetch", .pluginRefused, "table has 4294967295 bytes"),
        HostileCase(.sync, "open-small", "fetch", .pluginRefused, "table has 4 bytes"),
        HostileCase(.sync, "open-no-fetch", "fetch", .pluginRefused, "without the function 'fetch'"),
        HostileCase(.sync, "open-no-cancel", "fetch", .pluginRefused, "without the function 'cancel'"),
        HostileCase(.sync, "open-few", "fetch", .pluginRefused, "262143 bytes; expected at least 262144"),
        HostileCase(.sync, "open-many", "fetch", nil, ""),
        HostileCase(.sync, "open=1", "fetch", .unknown, "the invalid status 1"),
    ]

    /// Every fault that a crypto provider can have.
    static let crypto: [HostileCase] =
        flawed(.crypto, "message", "seal", .busy) + answers(.crypto, "seal", "seal")
        + answers(.crypto, "open-sealed", "open") + answers(.crypto, "derive", "derive")
        + answers(.crypto, "random", "random") + answers(.crypto, "public-key", "public_key")
        + answers(.crypto, "sign", "sign") + answers(.crypto, "verify", "verify") + [
            HostileCase(.crypto, "no-signatures", "sign", .unsupported, "lists Ed25519 but lacks its functions"),
            HostileCase(.crypto, "list-null", "seal", .pluginRefused, "without its list of algorithms"),
            HostileCase(.crypto, "list-max", "seal", .pluginRefused, "lists 18446744073709551615 algorithms"),
            HostileCase(.crypto, "list-min", "seal", .pluginRefused, "lists 9223372036854775808 algorithms"),
            HostileCase(.crypto, "list-none", "seal", .pluginRefused, "lists 0 algorithms"),
            HostileCase(.crypto, "list-twice", "seal", .pluginRefused, "twice"),
            HostileCase(.crypto, "list-odd", "seal", .pluginRefused, "expected [32, 12, 16]"),
            HostileCase(.crypto, "list-null-entry", "seal", .pluginRefused, "has a struct of 0 bytes"),
            HostileCase(.crypto, "list-lonely", "seal", .pluginRefused, "lacks its functions"),
            HostileCase(.crypto, "open-size", "seal", .pluginRefused, "table has 4294967295 bytes"),
        ]

    /// Every fault that a migration pack can have.
    static let pack: [HostileCase] =
        flawed(.pack, "result", "migrate") + flawed(.pack, "convert", "convert")
        + flawed(.pack, "list", "migrate", .pluginRefused) + flawed(.pack, "message", "migrate", .busy)
        + flawed(.pack, "key", "migrate", .corrupt).map {
            // An unusable text is not an address at all.
            HostileCase(.pack, $0.mode, $0.operation, .corrupt, "named an invalid key")
        } + flawed(.pack, "key-security", "migrate") + flawed(.pack, "key-value", "migrate")
        + answers(.pack, "migrate", "migrate") + answers(.pack, "convert", "convert")
        + answers(.pack, "should", "should", mayBeAbsent: true) + [
            HostileCase(.pack, "result-nothing", "migrate", .unknown, "did not write it"),
            HostileCase(.pack, "result-twice", "migrate", .corrupt, "two values to a sink for one"),
            HostileCase(.pack, "result-text", "migrate", .deserializationFailed, "result is malformed"),
            HostileCase(.pack, "result-count", "migrate", .deserializationFailed, "a negative count"),
            HostileCase(.pack, "convert-twice", "convert", .corrupt, "two values to a sink for one"),
            HostileCase(.pack, "convert-nothing", "convert", .unknown, "did not write it"),
            HostileCase(.pack, "key-null", "migrate", .unsupported, "a key of 0 bytes"),
            HostileCase(.pack, "key-small", "migrate", .unsupported, "a key of 8 bytes"),
            HostileCase(.pack, "key-uneven", "migrate", .unsupported, "a key of 60 bytes"),
            HostileCase(.pack, "key-newer", "migrate", nil, ""),
            HostileCase(.pack, "key-sink-null", "migrate", .unsupported, "a sink of 0 bytes"),
            HostileCase(.pack, "key-sink-small", "migrate", .unsupported, "a sink of 8 bytes"),
            HostileCase(.pack, "key-context", "migrate", .unsupported, "after its migration had ended"),
            HostileCase(.pack, "list-text", "migrate", .pluginRefused, "not well formed"),
            HostileCase(.pack, "list-deep", "migrate", .pluginRefused, "not well formed"),
            HostileCase(.pack, "validate=1", "bulk list", .unknown, "the invalid status 1"),
            HostileCase(.pack, "validate=ok+report", "bulk list", .unknown, "returned status 0"),
        ]

    /// Descriptors, by the library's file name.
    static let descriptors: [(mode: String, text: String?)] =
        ["name", "version", "id", "summary", "options"].flatMap { member in
            flaws.map { ("\(member):\($0.0)", "plugin") }
        } + [
            ("count-max", "lists 18446744073709551615 components"),
            ("count-min", "lists 9223372036854775808 components"),
            ("list-null", "its list of components is at the address NULL"), ("entry-null", "component 2 has a struct"),
            ("entry-odd", "component 2 has a struct"), ("options-none", nil), ("options-deep", "option list"),
        ]
}
