/// A migration that depends on more than its sources: a version, the device, a preference. It marks, for people and
/// lists, what `shouldMigrate(using:context:)` of such a migration decides; there is no other condition.
public protocol ConditionalMigration: StorageMigration {}
