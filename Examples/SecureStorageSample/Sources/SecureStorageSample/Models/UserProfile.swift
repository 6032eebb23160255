import FoundationEssentials

/// The current profile.
struct UserProfile: Codable, Equatable {
    let id: UUID
    let fullName: String
    let email: String
    let createdAt: Date
    let preferences: UserPreferences
}

/// The part of a profile that version 2 added.
struct UserPreferences: Codable, Equatable {
    let notifications: Bool
    let theme: String
    let language: String
}
