import Glibc
import LocalDataAPI

/// A shared library, read from its file without loading it.
///
/// `dlopen` maps a file and trusts it: a truncated one ends the process with SIGBUS, and the constructors of any
/// library run before the caller sees a single symbol. So the file is first read with `pread(2)` - never mapped, so
/// that a file that shrinks meanwhile is an error, not a signal - and every offset and size in it is checked.
///
/// Once this value exists, `dlopen` finds a whole 64-bit shared library for this machine, with a dynamic section and
/// symbols where it looks for them. Relocations and versions are not checked, nor the libraries that it needs.
/// `FileTrust`, not this check, protects against malicious files. Layout: System V gABI, chapters 4 and 5; elf(5).
package struct ELFImage: Sendable {
    /// The file that was read.
    package let path: String
    let symbols: Symbols
    let libraries: Libraries

    /// Reads the file at a trusted path.
    ///
    /// - Throws: `StorageError.pluginRefused` if it cannot be opened, is not the file that was checked, or is unsafe to
    ///   pass to `dlopen`.
    package init(_ location: TrustedPath) throws {
        // NONBLOCK: if a FIFO replaced the file, opening it must fail the comparison below, not wait for a writer.
        let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK
        guard let file = OwnedDescriptor(open(location.path, flags)) else {
            let number = errno
            let quoted = PathText.shellQuoted(location.path)
            throw StorageError.refusing(
                location.path, "cannot be opened: \(StorageError.systemText(number))",
                hint: number == EACCES ? "run: chmod u+r,go+r \(quoted)" : "")
        }
        var status = stat()
        guard fstat(file.raw, &status) == 0, FileIdentity(status) == location.identity else {
            throw StorageError.refusing(
                location.path, "changed while it was checked", hint: "wait until it is written, then try again")
        }
        let reader = Reader(descriptor: file.raw, size: UInt64(clamping: status.st_size), path: location.path)
        let header = try Header(reader)
        let segments = try Segments(reader, header)
        let dynamic = try Dynamic(reader, segments)
        symbols = try Symbols(reader, segments, dynamic)
        libraries = try Libraries(reader, dynamic, names: symbols.names)
        path = location.path
    }

    /// Whether `dlsym` finds a function or an object with this name in the library.
    package func definesSymbol(_ name: String) -> Bool { symbols.kind(of: name) != nil }

    /// The names of all functions and objects that begin with the prefix, sorted; those that are not UTF-8 are left
    /// out.
    package func definedSymbols(prefix: String) -> [String] { symbols.names(prefix: prefix) }
}
