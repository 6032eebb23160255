import LocalDataAPI
import TestSupport
import Testing
@testable import HostSync
@testable import LocalDataHost

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
