import Glibc
import LocalDataAPI

extension ELFImage.Header {
    #if arch(x86_64)
        private static let hostMachine = EM_X86_64
    #elseif arch(arm64)
        private static let hostMachine = EM_AARCH64
    #else
        #error("add this machine's number in elf.h, and its name below")
    #endif

    private static let machines: [Int32: String] = [
        EM_386: "i386", EM_MIPS: "mips", EM_PPC64: "ppc64", EM_S390: "s390", EM_ARM: "arm", EM_X86_64: "x86_64",
        EM_AARCH64: "aarch64", EM_RISCV: "riscv",
    ]

    /// Refuses a different word size, byte order, machine or system, in the order in which each makes the next
    /// readable.
    static func judgePlatform(_ header: Elf64_Ehdr, _ bytes: [UInt8], _ path: String) throws {
        let host = "a 64-bit library for \(name(hostMachine))"
        let hint = "install the build of the plugin for \(name(hostMachine)) Linux"
        func require(_ holds: Bool, _ found: @autoclosure () -> String) throws {
            guard holds else { throw StorageError.refusing(path, "is \(found()), expected \(host)", hint: hint) }
        }
        func ident(_ index: Int32) -> UInt8 { bytes.indices.contains(Int(index)) ? bytes[Int(index)] : 0 }

        let isLittleEndian = Int32(ident(EI_DATA)) == ELFDATA2LSB
        // The machine is at the same offset in both word sizes.
        let machine = Int32(isLittleEndian ? header.e_machine : header.e_machine.byteSwapped)
        try require(
            Int32(ident(EI_CLASS)) != ELFCLASS32, "a 32-bit library for \(name(machine))")
        try require(
            Int32(ident(EI_CLASS)) == ELFCLASS64, "an ELF file of the unknown class \(ident(EI_CLASS))")
        try require(
            isLittleEndian || Int32(ident(EI_DATA)) == ELFDATA2MSB,
            "an ELF file of the unknown byte order \(ident(EI_DATA))")
        try require(isLittleEndian, "a big-endian library for \(name(machine))")
        try require(machine == hostMachine, "a library for \(name(machine))")
        try require(
            Int32(ident(EI_VERSION)) == EV_CURRENT && header.e_version == UInt32(EV_CURRENT),
            "an ELF file of version \(header.e_version)")
        let system = Int32(ident(EI_OSABI))
        try require(
            system == ELFOSABI_SYSV || system == ELFOSABI_LINUX, "a library for another system (OS ABI \(system))")
    }

    private static func name(_ machine: Int32) -> String { machines[machine] ?? "machine \(machine)" }
}
