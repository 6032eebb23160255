import FoundationEssentials
import LocalDataAPI
import ReaderExercise

@testable import HostClients
@testable import HostGround
@testable import LocalDataHost

/// Requests of git and Docker, the URLs and JSON in them, and the names and values made from them.
enum CredentialExercise {
    static func run(_ bytes: UnsafeRawBufferPointer) throws {
        try checkRequest(bytes)
        let buffer = SecretBuffer()
        buffer.append(bytes)
        _ = GitCredentialURL(buffer.slice)
        _ = GitCredentialEntry(buffer).value
        try checkName(bytes)
        guard let credential = try? DockerCredential(json: buffer.slice) else { return }
        let again = try DockerCredential(json: credential.json.slice)
        try require(
            again.serverURL == credential.serverURL && again.username == credential.username
                && again.secret == credential.secret, "a credential that was written is read as another one")
    }

    private static func checkName(_ bytes: UnsafeRawBufferPointer) throws {
        for special in ["", ":/"] {
            let name = CredentialName.encode(bytes, escaping: special)
            try require(CredentialName.decode(name).elementsEqual(bytes), "a name stands for other bytes")
            try require(!special.contains { name.contains($0) }, "a character that has to be escaped is not")
        }
        // Names that other programs made may be any text.
        let name = String(decoding: bytes, as: UTF8.self)
        let again = CredentialName.encode(CredentialName.decode(name))
        try require(
            CredentialName.decode(again) == CredentialName.decode(name), "a name that was decoded encodes as another")
    }

    private static func checkRequest(_ bytes: UnsafeRawBufferPointer) throws {
        let whole = read(bytes, pieceSize: max(1, bytes.count))
        for size in [61, 1] where size > 1 || bytes.count <= 64 {
            let pieces = read(bytes, pieceSize: size)
            switch (whole, pieces) {
            case (.success(let first), .success(let second)):
                try require(
                    first.fields == second.fields && first.takesAuthType == second.takesAuthType,
                    "a request in pieces of \(size) bytes is another one")
            case (.failure(let first), .failure(let second)):
                try require(first.message == second.message, "a request in pieces fails for another reason")
            default: throw Violation("a request is read in one way only: whole or in pieces of \(size) bytes")
            }
        }
        guard case .success(let request) = whole, let entry = GitCredentialEntry(request) else { return }
        let again = GitCredentialEntry(entry.value)
        for field in GitCredentialRequest.Field.allCases {
            // An empty password in an entry counts as absent.
            if field == .password, entry[field]?.isEmpty == true { continue }
            try require(again[field] == entry[field], "a stored credential has another \(field.rawValue)")
        }
        _ = (entry.isExpired(at: 0), entry.matches(request), request.isEphemeral)
    }

    private static func read(_ bytes: UnsafeRawBufferPointer, pieceSize: Int) -> Result<
        GitCredentialRequest, StorageError
    > {
        let source = ByteSource(bytes, pieceSize: pieceSize)
        return Result { () throws(StorageError) in try GitCredentialRequest(from: source.source) }
    }

    static let samples: [[UInt8]] = [
        "protocol=https\nhost=example.com\npath=a/b.git\nusername=u\npassword=p\n\n",
        "capability[]=authtype\ncapability[]=state\nauthtype=Bearer\ncredential=abc\nephemeral=0\nprotocol=https\nhost=h\n"
            + "password_expiry_utc=9999999999\noauth_refresh_token=r\nwwwauth[]=Basic realm=\"x\"\n",
        "url=https://us%65r:p%40ss@example.com:8080/a%20b/c.git/\r\nquit=1\r\n\r\nrest",
        #"{"ServerURL":"https://index.docker.io/v1/","Username":"u\u00e9\uD83D\uDE00","Secret":"s\"\\\/\b\f\n\r\t"}"#,
        #" { "serverurl" : null , "x" : [1,-2e3,{"y":[true,false,null,"z"]}], "Secret":"" } "#,
        "https://user@host/path", "%25%0A%", "\u{FF}\u{0}", "password\npassword_expiry_utc=1\ncredential=c\nauthtype=B",
    ].map { Array($0.utf8) }
}
