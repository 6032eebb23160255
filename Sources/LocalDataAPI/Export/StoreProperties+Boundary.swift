/// The bits for what a keychain enforces: see `LD_ENFORCES_...` in the C header.
extension StoreProperties {
    package var enforces: UInt32 {
        get {
            let first = Self.bits(KeychainAccessibility.allCases, enforcedAccessibilities)
            return first | Self.bits(KeychainAccessControl.allCases, enforcedAccessControls) << 16
        }
        set {
            enforcedAccessibilities = Self.members(KeychainAccessibility.allCases, newValue)
            enforcedAccessControls = Self.members(KeychainAccessControl.allCases, newValue >> 16)
        }
    }

    private static func bits<Member>(_ all: [Member], _ members: Set<Member>) -> UInt32 {
        all.enumerated().reduce(0) { members.contains($1.element) ? $0 | 1 << UInt32($1.offset) : $0 }
    }

    private static func members<Member>(_ all: [Member], _ bits: UInt32) -> Set<Member> {
        Set(all.enumerated().filter { bits & 1 << UInt32($0.offset) != 0 }.map(\.element))
    }
}
