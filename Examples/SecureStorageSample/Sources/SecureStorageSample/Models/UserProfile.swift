import FoundationEssentials

/// A profile as the app has it today.
struct UserProfile: Codable, Equatable {
    let id: UUID
    let fullName: String
    let email: String
    let createdAt: Date
    let preferences: UserPreferences
}

/// What a profile came to have with version 2.
struct UserPreferences: Codable, Equatable {
    let notifications: Bool
    let theme: String
    let language: String
}
