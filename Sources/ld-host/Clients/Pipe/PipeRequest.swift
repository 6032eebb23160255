internal import LocalDataHost

/// The header of a request.
struct PipeRequest: Decodable {
    /// What answers and their requests belong together by.
    struct ID: Decodable {
        let id: UInt64
    }

    /// What is asked for.
    enum Operation: String, CaseIterable, Decodable {
        case get, set, remove, exists, list, attributes, version
    }

    let id: UInt64
    let op: Operation
    let domain: String?
    let scope: String?
    let name: String?
    let prefix: String?
    let after: String?
    let limit: Int?
    let form: ValueForm?
}
