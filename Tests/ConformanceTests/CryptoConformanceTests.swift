import FoundationEssentials
import LocalDataAPI
import LocalDataTesting
import TestSupport
import Testing

@Suite("The conformance kit for crypto providers", .serialized)
struct CryptoConformanceTests {
    @Test(
        "finds nothing in the crypto plugins of this package", arguments: ["OpenSSLCrypto", "SodiumCrypto"])
    func ownPluginsPass(_ name: String) throws {
        let end = try Built.testPlugin(BuiltProducts.plugin(name))
        #expect(end.status == 0, "\(end.output)\(end.errors)")
        #expect(end.output.contains(" passed, 0 failed, "))
    }

    @Test("finds nothing in a correct provider, and has nothing to skip if every algorithm is offered")
    func correctProviderPasses() throws {
        let results = try results("")
        #expect(results.map(\.id) == ConformanceCheck.all(for: .crypto).map(\.id))
        #expect(results.allSatisfy { $0.outcome == .passed }, "\(results)")
    }

    @Test("fails the check whose promise a provider breaks", arguments: BrokenProvider.all)
    func brokenProviderFails(_ broken: BrokenProvider) throws {
        let results = try results(broken.way, component: broken.component, "--only", "crypto.\(broken.check)")
        #expect(results.map(\.outcome) == [.failed], "\(results)")
    }

    /// All providers with `LOCALDATA_TORTURE=1`; otherwise one, the same for the same `LOCALDATA_SEED`.
    @Test("fails no other check", arguments: TestRun.sample(1, of: BrokenProvider.all))
    func brokenProviderFailsNoOther(_ broken: BrokenProvider) throws {
        let failed = try results(broken.way, component: broken.component).filter { $0.outcome == .failed }
        #expect(failed.map(\.id) == ["crypto.\(broken.check)"], "\(failed)")
    }

    @Test("runs only the requested checks, and none of another kind")
    func onlySome() throws {
        let results = try results("", "--only", "crypto.random.fills", "--only", "crypto.cipher.tag")
        #expect(results.map(\.id) == ["crypto.cipher.tag", "crypto.random.fills"])
        let end = try Built.testPlugin(BuiltProducts.plugin("MemoryStore"), "--only", "crypto.cipher.tag")
        #expect(end.status == 2)
        #expect(end.errors.contains("unknown check 'crypto.cipher.tag' for storage components"))
    }

    @Test("tries a Swift type in the test's own process, and refuses one that declares nothing")
    func inProcess() async throws {
        let report = try await CryptoConformance.run(NoCipher.self)
        #expect(
            report.failures.map(\.id) == ["crypto.lifecycle.open"],
            "a provider without algorithms is refused when it is opened: \(report)")
        await #expect(throws: StorageError.invalidOptions) {
            try await CryptoConformance.run(NoCipher.self, only: ["value.empty"])
        }
    }

    /// A provider without any algorithm.
    private struct NoCipher: CryptoProvider {
        static let component = ComponentInfo(id: "no-cipher", summary: "computes nothing")
        let ciphers: [AuthenticatedCipher] = []
        let derivations: [KeyDerivationFunction] = []
        let agreements: [KeyAgreement] = []

        init(options: ComponentOptions, host: HostServices) {}

        func seal(
            _ plaintext: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
            authenticating data: RawSpan, ciphertext: inout MutableRawSpan, tag: inout MutableRawSpan
        ) throws { throw StorageError(.unsupported) }

        func open(
            _ ciphertext: RawSpan, tag: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
            authenticating data: RawSpan, plaintext: inout MutableRawSpan
        ) throws { throw StorageError(.unsupported) }

        func deriveKey(from secret: RawSpan, salt: RawSpan, info: RawSpan, into key: inout MutableRawSpan) throws {
            throw StorageError(.unsupported)
        }

        func random(into bytes: inout MutableRawSpan) throws { throw StorageError(.unsupported) }
    }

    private func results(
        _ way: String, component: String = "provider", _ arguments: String...
    ) throws -> [ConformanceResult] {
        let file = try Built.provider.get()
        let end = try Built.run(
            file, ["--json", "--component", component, "--options", #"{"breaks": "\#(way)"}"#] + arguments)
        let reports = try JSONDecoder().decode([ConformanceReport].self, from: Data(end.output.utf8))
        let report = try #require(reports.first, "\(end.errors)")
        #expect(end.status == (report.failures.isEmpty ? 0 : 2))
        return report.results
    }
}
