import TestSupport
import Testing

@Suite("The address of a PostgreSQL server")
struct ServerAddressTests {
    @Test(
        "needs a verified certificate, also if only PGHOSTADDR names it",
        arguments: ["192.0.2.1", "127.0.0.1,192.0.2.1"])
    func fromEnvironment(_ addresses: String) throws {
        let home = try Home()
        home.add("PGHOSTADDR", addresses)
        let uri = "postgresql://app@localhost:1/app?sslmode=disable"
        try home.done("config", "set", "stores.shared", #"{"component":"postgresql","options":{"uri":"\#(uri)"}}"#)
        try home.done("config", "set", "domains.userDefaults", "shared", "--anyway")
        let ending = try home.run("get", "userDefaults/theme")
        #expect(ending.status == 2 && ending.errors.contains("with sslmode 'disable'"), "\(ending.errors)")
        #expect(ending.errors.contains("use verify-full"), "\(ending.errors)")
    }
}
