internal import ByteCoding
internal import FoundationEssentials
internal import Glibc
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

/// Small values of a place, one behind the other: where there are thousands, memory for each of its own would be most
/// of the work. To be used by one thread at a time.
final class BulkValues {
    private struct Entry {
        let name: Range<Int>
        let newName: Range<Int>
        let value: Range<Int>
        let attributes: Int
        let mark: UInt64
    }

    private var entries: [Entry] = []
    /// The attributes of the values, each once.
    private(set) var attributes: [ValueAttributes?] = []
    private var numbers: [ValueAttributes?: Int] = [:]
    private var repeated = LoadedStore.RepeatedAttributes()
    private var number = 0
    private var bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    private var end = 0
    /// Whether the next value is larger than was asked for.
    private(set) var endsBeforeLarge = false

    deinit { free() }

    var count: Int { entries.count }

    func name(_ index: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[entries[index].name]) }

    /// The name with the other prefix.
    func newName(_ index: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[entries[index].newName])
    }

    func value(_ index: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[entries[index].value])
    }

    /// The number of what is kept beside a value.
    func attributes(_ index: Int) -> Int { entries[index].attributes }

    /// The mark of a value's last write.
    func mark(_ index: Int) -> UInt64 { entries[index].mark }

    /// Reads the next values of a place, in the place of what was here. May wait.
    ///
    /// - Parameters:
    ///   - newPrefix: What names begin with in the place of the range's prefix where they come to.
    ///   - most: How many values.
    ///   - mostBytes: How many bytes all values but the last have at most.
    ///   - largest: Of values of more bytes none is read, nor what comes behind it.
    func read(
        _ place: BulkPlace, after: String?, renaming newPrefix: String, most: Int, mostBytes: Int, largest: Int
    ) throws(StorageError) {
        let prefix = place.range.prefix
        let isRenamed = !prefix.hasBytes(of: newPrefix)
        try place.open.repeating { () throws(StorageError) in
            entries.removeAll(keepingCapacity: true)
            (end, endsBeforeLarge) = (0, false)
            try place.open.store.forEachValue(
                in: place.namespace, prefix: prefix, after: after, largest: largest
            ) { given in
                guard entries.count < most, end < mostBytes else { return false }
                guard let value = given.value else {
                    endsBeforeLarge = true
                    return false
                }
                add(given, value, renaming: isRenamed ? (prefix, newPrefix) : nil)
                return true
            }
        }
    }

    private func add(
        _ given: LoadedStore.LentValue, _ bytes: UnsafeRawBufferPointer, renaming prefixes: (old: String, new: String)?
    ) {
        let name = append(given.name)
        var newName = name
        if let prefixes {
            let prefix = Array(prefixes.new.utf8).withUnsafeBytes { append($0) }
            let rest = append(UnsafeRawBufferPointer(rebasing: given.name[prefixes.old.utf8.count...]))
            newName = prefix.lowerBound..<rest.upperBound
        }
        let value = append(bytes)
        if repeated.take(given) {
            let new = given.makeAttributes()?.kept
            number = numbers[new] ?? attributes.count
            if number == attributes.count {
                attributes.append(new)
                numbers[new] = number
            }
        }
        entries.append(
            Entry(name: name, newName: newName, value: value, attributes: number, mark: given.mark))
    }

    private func append(_ piece: UnsafeRawBufferPointer) -> Range<Int> {
        if bytes.count - end < piece.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(2 * bytes.count, end + piece.count), alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<end]))
            free()
            bytes = larger
        }
        UnsafeMutableRawBufferPointer(rebasing: bytes[end...]).copyMemory(from: piece)
        end += piece.count
        return end - piece.count..<end
    }

    /// The values may be secrets.
    private func free() {
        if let start = bytes.baseAddress { explicit_bzero(start, end) }
        bytes.deallocate()
    }
}
