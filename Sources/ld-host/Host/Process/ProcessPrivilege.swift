import CLinux

/// Whether the program runs with more rights than the user who started it.
package enum ProcessPrivilege {
    /// The kernel's own answer: the entry `AT_SECURE` of the auxiliary vector, see getauxval(3). It covers set-user-ID,
    /// set-group-ID, file capabilities and security modules.
    ///
    /// Reads memory only: `/proc/self/auxv` belongs to root as soon as the process forbids core dumps.
    package static var isElevated: Bool { ld_linux_is_elevated() != 0 }
}
