import Glibc
import LocalDataAPI
import LocalDataHost
import Testing

extension PluginScratch {
    /// The source of these tests' libraries: the entry of ABI 1, and a symbol of each kind to find or to ignore.
    static let source = """
        int localdata_plugin_v1(void) { return 1; }
        int zz_object = 7;
        int zz_zeroed[64];
        __attribute__((weak)) int zz_weak(void) { return 2; }
        __attribute__((visibility("hidden"))) int zz_hidden(void) { return 3; }
        __attribute__((visibility("protected"))) int zz_protected(void) { return 4; }
        static int zz_local(void) { return 5; }
        __thread int zz_thread = 6;
        extern int zz_undefined(void);
        int zz_caller(void) { return zz_undefined() + zz_local() + zz_hidden(); }
        """

    /// The image of a file that was checked as a host checks it.
    static func image(_ path: String) throws -> ELFImage { try ELFImage(FileTrust.check(path)) }

    /// A file's bytes.
    static func contents(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let size = lseek(descriptor, 0, SEEK_END)
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
        }
        try #require(bytes.count == Int(size))
        return bytes
    }

    /// Compiles the library, passes its bytes to be changed, and returns the refusal of the result.
    static func refusal(options: [String] = [], changing change: (inout [UInt8]) -> Void) throws -> String {
        try with { scratch in
            var bytes = try contents(scratch.compile(source, to: "whole.so", ["-shared", "-fPIC"] + options))
            #expect(throws: Never.self) { try image(scratch.path + "/whole.so").requireEntry(major: 1) }
            change(&bytes)
            let path = try scratch.file("changed.so", bytes)
            let error = try refusal { try image(path) }
            #expect(error.message.hasPrefix("plugin file \(path) "))
            #expect(!error.hint.isEmpty)
            return String(error.message.dropFirst("plugin file \(path) ".count))
        }
    }
}

/// Numbers in the file's byte order, and the positions of a file's fields.
extension [UInt8] {
    /// Reads a number.
    func number<Number: FixedWidthInteger>(_: Number.Type, at offset: Int) -> Number {
        self[offset..<offset + MemoryLayout<Number>.size].reversed().reduce(0) { $0 << 8 | Number($1) }
    }

    /// Writes a number.
    mutating func put<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
        for index in 0..<MemoryLayout<Number>.size {
            self[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
        }
    }

    /// The offsets of the program headers of a type.
    func segments(_ type: Int32) -> [Int] {
        (0..<Int(number(UInt16.self, at: 56)))
            .map { Int(number(UInt64.self, at: 32)) + $0 * 56 }
            .filter { number(UInt32.self, at: $0) == UInt32(bitPattern: type) }
    }

    /// The offset in the file of an address.
    func offset(of address: UInt64) -> Int {
        for segment in segments(PT_LOAD) {
            let start = number(UInt64.self, at: segment + 16)
            if address >= start && address - start < number(UInt64.self, at: segment + 32) {
                return Int(number(UInt64.self, at: segment + 8) + address - start)
            }
        }
        return 0
    }

    /// The offset of the first entry with a tag in the dynamic section.
    func dynamicEntry(_ tag: Int32) -> Int? {
        guard let segment = segments(PT_DYNAMIC).first else { return nil }
        let start = Int(number(UInt64.self, at: segment + 8))
        let count = Int(number(UInt64.self, at: segment + 32)) / 16
        return (0..<count).map { start + $0 * 16 }.first { number(Int64.self, at: $0) == Int64(tag) }
    }
}
