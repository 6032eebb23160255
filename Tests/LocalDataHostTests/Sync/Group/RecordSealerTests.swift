import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing
@testable import HostSync
@testable import LocalDataHost

@Suite("Sealed records of a sync group") struct RecordSealerTests {
    private func sealer(_ device: TestDevice) throws -> RecordSealer {
        try RecordSealer(device.keys, epoch: device.state.epoch, device.crypto)
    }

    private func seal(_ content: Data, by device: TestDevice, name: String = "0a") throws -> Data {
        try sealer(device).seal([(name, content)], by: device.device)[0]
    }

    private func open(
        _ record: Data, by writer: TestDevice, name: String = "0a", _ device: TestDevice
    ) throws -> (content: Data, epoch: EpochID) {
        try sealer(device).open(
            record, by: writer.id, signingWith: writer.device.signingPublicKey, name: name)
    }

    @Test(
        "a record opens with either provider, and only with its own writer and name", arguments: GroupProvider.allCases,
        GroupProvider.allCases)
    func opening(_ one: GroupProvider, _ other: GroupProvider) throws {
        var first = try TestDevice(creating: "a", one.crypto())
        let second = try first.admit("b", other.crypto())
        let content = Data("the value".utf8)
        let record = try seal(content, by: first)
        // Version, epoch, salt and mark; the box; the signature.
        #expect(record.count == content.count + 21 + GroupCrypto.boxOverhead + 66)
        #expect(record.count == content.count + RecordSealer.overhead && record.firstRange(of: content) == nil)
        let opened = try open(record, by: first, second)
        #expect(opened.content == content && opened.epoch == first.state.epoch.id)
        #expect(throws: StorageError.cannotOpen) { _ = try open(record, by: second, second) }
        #expect(throws: StorageError.cannotOpen) { _ = try open(record, by: first, name: "0b", second) }
        #expect(try seal(content, by: first) != record, "no salt comes twice")
        #expect(try open(seal(Data(), by: first, name: ""), by: first, name: "", second).content.isEmpty)
    }

    @Test("with any bit changed, or truncated anywhere, a record does not open")
    func changedBits() throws {
        let device = try TestDevice(creating: "a", try GroupProvider.openssl.crypto())
        let (sealer, key) = (try sealer(device), device.device.signingPublicKey)
        let record = try seal(Data("value".utf8), by: device)
        for bit in 0..<record.count * 8 {
            #expect(throws: StorageError.cannotOpen, "bit \(bit)") {
                _ = try sealer.open(record.changing(bit: bit), by: device.id, signingWith: key, name: "0a")
            }
        }
        for count in 0..<record.count {
            #expect(throws: StorageError.self) {
                _ = try sealer.open(record.prefix(count), by: device.id, signingWith: key, name: "0a")
            }
        }
    }

    @Test("a removed device opens records sealed before its removal, and none after")
    func epochs() throws {
        var devices = try makeGroup(of: ["a", "b", "c"], try GroupProvider.openssl.crypto())
        let old = try seal(Data("old".utf8), by: devices[0])
        try devices[0].remove(devices[2].id)
        try exchange(&devices)
        let new = try seal(Data("new".utf8), by: devices[0])
        #expect(try open(new, by: devices[0], devices[1]).content == Data("new".utf8))
        #expect(try open(old, by: devices[0], devices[1]).content == Data("old".utf8))
        #expect(try open(old, by: devices[0], devices[2]).content == Data("old".utf8))
        let error = #expect(throws: StorageError.storeUnavailable) {
            _ = try open(new, by: devices[0], devices[2])
        }
        #expect(error?.message.contains("epoch 1") == true)
        #expect(throws: StorageError.storeUnavailable) { _ = try seal(Data(), by: devices[2]) }
    }

    @Test("a record of another group is refused at once, under whichever epoch")
    func foreign() throws {
        let crypto = try GroupProvider.openssl.crypto()
        let device = try TestDevice(creating: "a", crypto)
        var other = try makeGroup(of: ["b", "c"], crypto)
        for _ in 0..<2 {
            let record = try seal(Data("value".utf8), by: other[0])
            for writer in [device, other[0]] {
                #expect(throws: StorageError.cannotOpen) { _ = try open(record, by: writer, device) }
                #expect(throws: StorageError.cannotOpen) {
                    _ = try open(Data([2]) + record.dropFirst(), by: writer, device)
                }
            }
            if other[0].state.members.count > 1 { try other[0].remove(other[1].id) }
        }
    }

    @Test("an epoch's key without a device's own makes no record of that device", arguments: [1, 2, 3, 64, 65])
    func notByOthers(_ count: Int) throws {
        let devices = try makeGroup(of: ["a", "b", "c"], try GroupProvider.openssl.crypto())
        let contents = (0..<count).map { (name: "name \($0)", content: Data("value \($0)".utf8)) }
        let (own, key) = (devices[0].device.signingPublicKey, devices[1].device.signingPublicKey)
        let records = try sealer(devices[0]).seal(contents, by: devices[0].device)
        let opener = try sealer(devices[2])
        for ((name, content), record) in zip(contents, records).shuffled() {
            #expect(try opener.open(record, by: devices[0].id, signingWith: own, name: name).content == content)
            #expect(throws: StorageError.cannotOpen) {
                _ = try opener.open(record, by: devices[0].id, signingWith: key, name: name)
            }
            #expect(throws: StorageError.cannotOpen) {
                _ = try opener.open(record, by: devices[1].id, signingWith: key, name: name)
            }
        }
        // One alone is checked as well as all.
        let last = try #require(records.last)
        let (name, content) = contents[count - 1]
        #expect(
            try sealer(devices[2]).open(last, by: devices[0].id, signingWith: own, name: name).content == content)
        // Of the same batch, with the proof of another record.
        let parts = zip(contents, records).map { ($0.name, $0.content, $1) }
        for (name, content, record) in parts.prefix(3) {
            let grown = try sealer(devices[1]).seal([(name, content + Data("!".utf8))], by: devices[1].device)[0]
            #expect(throws: StorageError.cannotOpen) {
                _ = try opener.open(grown, by: devices[0].id, signingWith: own, name: name)
            }
            #expect(record.count <= content.count + RecordSealer.overhead + 6 * 16)
        }
    }

    @Test("names and hashes are the same for all members, and others for other groups")
    func names() throws {
        var first = try TestDevice(creating: "a", try GroupProvider.openssl.crypto())
        let second = try first.admit("b", try GroupProvider.sodium.crypto())
        let stranger = try TestDevice(creating: "c", try GroupProvider.sodium.crypto())
        let sealers = try [first, second, stranger].map(sealer)
        let names = try sealers.map { try $0.name(of: "userDefaults/theme") }
        #expect(names[0] == names[1] && names[0] != names[2])
        #expect(names[0].count == 32 && DeviceID(text: names[0]) != nil)
        #expect(try sealers[0].name(of: "userDefaults/themes") != names[0])
        #expect(try sealers[0].name(of: "").count == 32)
        let hashes = try sealers.map { try $0.hash(of: Data("dark".utf8)) }
        #expect(hashes[0] == hashes[1] && hashes[0] != hashes[2])
        #expect(try sealers[0].hash(of: Data()) != hashes[0])
    }
}
