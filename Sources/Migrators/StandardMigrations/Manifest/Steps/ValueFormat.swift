internal import FoundationEssentials
internal import JSON
internal import LocalDataAPI

/// The two formats whose values the steps can look into.
enum ValueFormat: String, Sendable, CaseIterable {
    case json
    case plist

    init?(_ format: SerializerFormat) { self.init(rawValue: format.rawValue) }

    /// The value in stored bytes.
    ///
    /// - Throws: `decodingFailed` naming the address and, in it, the place.
    func read(_ data: Data, at address: String) throws(MigrationError) -> JSON {
        switch self {
        case .json:
            do throws(JSONFault) { return try JSON.parse(data) } catch {
                throw MigrationError(
                    .decodingFailed, "'\(address)' is not JSON: \(error.message) at byte \(error.offset)")
            }
        case .plist:
            do throws(PlaceFault) { return try PropertyListReader.read(data) } catch {
                throw MigrationError(.decodingFailed, "'\(address)': \(error.text)")
            }
        }
    }

    /// The bytes of a value.
    ///
    /// - Throws: `transformationFailed` naming the address and, in it, the place.
    func write(_ value: JSON, at address: String) throws(MigrationError) -> Data {
        switch self {
        case .json: return Data(value.text)
        case .plist:
            do throws(PlaceFault) { return try PropertyListValue.bytes(of: value) } catch {
                throw MigrationError(.transformationFailed, "'\(address)': \(error.text)")
            }
        }
    }

    /// Whether bytes look as if they had this format already.
    func fits(_ data: Data) -> Bool { PropertyListReader.isPropertyList(data) == (self == .plist) }
}
