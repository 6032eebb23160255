import Glibc

/// Whether the program runs with more rights than the one who started it.
package enum ProcessPrivilege {
    /// The kernel's own answer: the entry `AT_SECURE` of the auxiliary vector (getauxval(3)), which covers set-user-ID,
    /// set-group-ID, file capabilities and security modules.
    ///
    /// It is read from `/proc/self/auxv`, as Swift's Glibc module does not show getauxval. A vector that may not be
    /// read means yes, because the kernel withholds it from just these programs. Without `/proc` only the ids are
    /// compared.
    package static var isElevated: Bool {
        if getuid() != geteuid() || getgid() != getegid() { return true }
        let file = open("/proc/self/auxv", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return errno != ENOENT }
        defer { close(file) }
        var words = [UInt](repeating: 0, count: 256)
        let count = words.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
        guard count > 0 else { return true }
        return isElevated(auxiliaryVector: words[..<(count / MemoryLayout<UInt>.stride)])
    }

    /// Whether an auxiliary vector, pairs of type and value up to a type of zero, has `AT_SECURE` set or lacks it.
    package static func isElevated(auxiliaryVector words: some Sequence<UInt>) -> Bool {
        var iterator = words.makeIterator()
        while let type = iterator.next(), let value = iterator.next(), type != 0 {
            if type == UInt(AT_SECURE) { return value != 0 }
        }
        return true
    }
}
