import CLinux

/// Whether the program has more rights than the user who started it.
package enum ProcessPrivilege {
    /// The kernel's own answer: the entry `AT_SECURE` of the auxiliary vector, see getauxval(3). It covers set-user-ID,
    /// set-group-ID, file capabilities and security modules.
    ///
    /// Only reads memory: `/proc/self/auxv` belongs to root once the process forbids core dumps.
    package static var isElevated: Bool { ld_linux_is_elevated() != 0 }
}
