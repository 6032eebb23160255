import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing
@testable import HostGround
@testable import HostSync
@testable import LocalDataHost

@Suite("Keys and ids of a sync group") struct GroupKeyTests {
    private func bytes(_ secret: SecretBytes) -> Data { secret.withBytes { Data($0) } }

    @Test("a device's id is derived from its key, the same by both providers")
    func deviceIDs() throws {
        let (openssl, sodium) = (try GroupProvider.openssl.crypto(), try GroupProvider.sodium.crypto())
        let keys = try DeviceKeys(creatingWith: openssl)
        let again = try DeviceKeys(decoding: keys.encoded(), sodium)
        #expect(again.id == keys.id && again.signingPublicKey == keys.signingPublicKey)
        #expect(again.agreementPublicKey == keys.agreementPublicKey)
        #expect(bytes(try again.encoded()) == bytes(try keys.encoded()))
        #expect(try DeviceID(ofSigningKey: keys.signingPublicKey, sodium) == keys.id)
        #expect(try DeviceKeys(creatingWith: openssl).id != keys.id)
        #expect(try keys.encoded().count == 65)
    }

    @Test("encoded keys of another size or version are refused")
    func damagedKeys() throws {
        let crypto = try GroupProvider.openssl.crypto()
        let device = try TestDevice(creating: "a", crypto)
        let (own, group) = (bytes(try device.device.encoded()), bytes(try device.keys.encoded()))
        func secret(_ data: Data) throws -> SecretBytes {
            try SecretBytes(count: data.count) { memory in memory.copyBytes(from: data) }
        }
        for wrong in [Data(), own.dropLast(), own + Data([0]), Data([2]) + own.dropFirst()] {
            #expect(throws: StorageError.corrupt) { _ = try DeviceKeys(decoding: secret(wrong), crypto) }
        }
        for wrong in [Data(), group.dropLast(), group + Data([0]), Data([2]) + group.dropFirst()] {
            #expect(throws: StorageError.corrupt) { _ = try GroupKeys(decoding: secret(wrong), crypto) }
        }
        let again = try GroupKeys(decoding: device.keys.encoded(), crypto)
        #expect(again.group == device.keys.group && again.knownEpochs == device.keys.knownEpochs)
        #expect(bytes(again.logKey) == bytes(device.keys.logKey))
        #expect(bytes(try again.encoded()) == group)
    }

    @Test("ids are 32 lower-case hexadecimal digits and nothing else")
    func identifiers() throws {
        let id = try #require(DeviceID(text: "00112233445566778899aabbccddeeff"))
        #expect(id.text == "00112233445566778899aabbccddeeff" && "\(id)" == id.text)
        #expect(
            id.bytes == [0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff])
        #expect(DeviceID(bytes: id.bytes) == id && DeviceID(bytes: id.bytes.dropLast()) == nil)
        #expect(try #require(DeviceID(text: "00112233445566778899aabbccddeefe")) < id)
        #expect(try #require(DeviceID(text: "ff112233445566778899aabbccddee00")) > id)
        for wrong in [
            "", "00112233445566778899aabbccddeef", "00112233445566778899aabbccddeeff0",
            "00112233445566778899AABBCCDDEEFF",
            "+0112233445566778899aabbccddeeff", "0011223344556677+899aabbccddeeff",
            "00112233-4455-6677-8899-aabbccddeeff",
            " 0112233445566778899aabbccddeeff", "0x112233445566778899aabbccddeeff",
        ] { #expect(DeviceID(text: wrong) == nil, "\(wrong)") }
    }

    @Test("no two labels are the same, and none is a prefix of another")
    func labels() {
        for one in GroupLabel.allCases {
            for other in GroupLabel.allCases where one != other { #expect(!one.rawValue.hasPrefix(other.rawValue)) }
        }
    }

    @Test("a key that a member sealed wrongly is skipped, and others are not")
    func wrongBox() throws {
        var devices = try makeGroup(of: ["a", "b"], try GroupProvider.openssl.crypto())
        let keys = try devices[0].epochKeys(for: devices.map(\.id))
        let wrong = GroupEntry.EpochKeys(
            ephemeralKey: keys.ephemeralKey, boxes: keys.boxes.mapValues { $0.changing(bit: 400) },
            invitationBoxes: [:])
        let weak = GroupEntry.EpochKeys(ephemeralKey: Data(count: 32), boxes: keys.boxes, invitationBoxes: [:])
        try devices[0].force(.rekey(wrong, .init()))
        try devices[0].force(.rekey(weak, .init()))
        try devices[0].rekey()
        try devices[1].receive(devices[0])
        #expect(
            devices[1].state.epoch.number == 3 && devices[1].hasCurrentKey && devices[1].keys.knownEpochs.count == 2)
    }
}
