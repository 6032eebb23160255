/// A migration that depends on more than its sources: a version, the device, a preference. The protocol only marks such
/// a migration; `shouldMigrate(using:context:)` decides.
public protocol ConditionalMigration: StorageMigration {}
