import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

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

@Suite("Codes of invitations") struct InvitationCodeTests {
    @Test("a code is read in any case, with any spaces and dashes, and with letters that look like digits")
    func reading() throws {
        let (openssl, sodium) = (try GroupProvider.openssl.crypto(), try GroupProvider.sodium.crypto())
        for _ in 0..<50 {
            let invitation = try Invitation(creatingWith: openssl)
            let code = invitation.code
            #expect(code.count == 39 && code.split(separator: "-").allSatisfy { $0.count == 4 })
            let forms = [
                code, code.lowercased(), code.replacing("-", with: ""), " \(code.replacing("-", with: " \n"))\t",
                code.replacing("0", with: "O").replacing("1", with: "l"),
                code.replacing("1", with: "I").replacing("0", with: "o"),
            ]
            for form in forms {
                let read = try Invitation(code: form, sodium)
                #expect(read.id == invitation.id && read.signingPublicKey == invitation.signingPublicKey)
                #expect(read.code == code)
            }
        }
    }

    @Test("a typing error is found, and the error does not repeat the code")
    func typingErrors() throws {
        let crypto = try GroupProvider.openssl.crypto()
        let code = try Invitation(creatingWith: crypto).code
        let characters = Array(code)
        for place in characters.indices where characters[place] != "-" {
            var wrong = characters
            wrong[place] = characters[place] == "7" ? "8" : "7"
            let error = try #require(throws: StorageError.self) { _ = try Invitation(code: String(wrong), crypto) }
            #expect(error.code == .invalidOptions && error.message.contains("typing error"))
            #expect(!error.message.contains(code.prefix(9)))
        }
        for place in characters.indices.dropLast() where characters[place] != characters[place + 1] {
            var wrong = characters
            wrong.swapAt(place, place + 1)
            guard wrong.filter({ $0 != "-" }) != characters.filter({ $0 != "-" }) else { continue }
            #expect(throws: StorageError.invalidOptions) { _ = try Invitation(code: String(wrong), crypto) }
        }
        for (wrong, what) in [
            ("", "0 letters and digits"), (String(code.dropLast()), "31 letters"), (code + "0", "33 letters"),
            ("U" + code.dropFirst(), "'U' at place 1"), (code.dropLast() + "é", "'é' at place 39"),
        ] {
            let error = try #require(throws: StorageError.self) { _ = try Invitation(code: String(wrong), crypto) }
            #expect(error.code == .invalidOptions && error.message.contains(what), "\(error)")
        }
    }
}

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
