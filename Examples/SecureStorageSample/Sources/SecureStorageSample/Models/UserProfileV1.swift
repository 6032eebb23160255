import FoundationEssentials

/// A profile as version 1 had it.
struct UserProfileV1: Codable {
    let id: UUID
    let firstName: String
    let lastName: String
    let email: String
    let createdAt: Date
}
