public import Glibc
import Synchronization

/// Who can change a file besides this user and the superuser, judged by what owners and modes mean and not by their
/// bits alone.
public enum Ownership {
    /// Whether a file's owner is the user, the superuser, or one that no user of this namespace is.
    ///
    /// In a user namespace that maps only some users, as sandboxes make it, all others are shown as the overflow user
    /// (`/proc/sys/kernel/overflowuid`), the system's own root among them. Nobody here is that user; so it is trusted
    /// where this process cannot write either, or in a folder such as `/tmp`, where all may and replace only their own.
    public static func isTrusted(_ status: stat, of path: String, by user: uid_t) -> Bool {
        if status.st_uid == 0 || status.st_uid == user { return true }
        guard status.st_uid == unmapped else { return false }
        return status.st_mode & S_IFMT == S_IFDIR && status.st_mode & S_ISVTX != 0 || access(path, W_OK) != 0
    }

    /// Those other than the owner who can write by the mode. Where only the user's own group can, it is the user.
    public static func writers(_ status: stat, besides user: uid_t) -> (group: Bool, others: Bool) {
        let others = status.st_mode & S_IWOTH != 0
        let group = status.st_mode & S_IWGRP != 0 && (others || !isOwn(status.st_gid, of: user))
        return (group, others)
    }

    /// Whether advice may tell a user to change the mode of a file or folder: only of the user's own. A sticky folder
    /// is for several users, as `/tmp` is, which is root's own.
    public static func isOwn(_ status: stat, of user: uid_t) -> Bool {
        status.st_uid == user && !(status.st_mode & S_IFMT == S_IFDIR && status.st_mode & S_ISVTX != 0)
    }

    /// Whether a group is the user's private one: the user's group by the user database, of the user's name, and
    /// without other members. Debian's and Fedora's users have one each, and a umask of 002.
    public static func isOwn(_ group: gid_t, of user: uid_t) -> Bool {
        if let known = known.withLock({ $0[[user, group]] }) { return known }
        let found = lookUp(group, of: user)
        known.withLock { $0[[user, group]] = found }
        return found
    }

    /// Whether only this user and the superuser can read a file, and nobody else can change it. For another user, a
    /// file of the superuser may be readable for a group of this process: so are secrets that are mounted into
    /// containers.
    public static func isSecret(_ status: stat) -> Bool {
        if status.st_uid == geteuid() { return status.st_mode & 0o077 == 0 }
        guard status.st_uid == 0, status.st_mode & 0o037 == 0 else { return false }
        return status.st_mode & S_IRGRP == 0 || isMember(of: status.st_gid)
    }

    private static func isMember(of group: gid_t) -> Bool {
        if group == getegid() { return true }
        var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
        let count = getgroups(Int32(groups.count), &groups)
        return count > 0 && groups.prefix(Int(count)).contains(group)
    }

    /// Opens a file that a person or a program of the system provides, for reading. Such a file may be a symbolic link,
    /// as where configuration is mounted or kept elsewhere: one that only this user or the superuser can have made.
    ///
    /// - Returns: A descriptor, which the caller closes; below 0 with `errno` on failure, which is `ELOOP` for another
    ///   user's link, and `EILSEQ` for one to a path that is not UTF-8.
    public static func openGiven(_ path: String) -> Int32 {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        var path = path
        for _ in 0..<40 {
            let file = open(path, flags | O_NOFOLLOW)
            guard file < 0, errno == ELOOP else { return file }
            var link = stat()
            guard lstat(path, &link) == 0 else { return -1 }
            guard isTrusted(link, of: path, by: geteuid()) else { break }
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(path, &buffer, buffer.count - 1)
            guard count > 0 else { return -1 }
            // Another name than the link says is another file.
            let bytes = buffer.prefix(count).map { UInt8(bitPattern: $0) }
            guard let target = String(validating: bytes, as: UTF8.self) else {
                errno = EILSEQ
                return -1
            }
            let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? ""
            path = target.hasPrefix("/") ? target : folder + target
        }
        errno = ELOOP
        return -1
    }

    private static let known = Mutex<[[UInt32]: Bool]>([:])

    private static func lookUp(_ group: gid_t, of user: uid_t) -> Bool {
        guard let entry = entry(of: user), entry.group == group else { return false }
        var size = 1024
        while size <= 1 << 20 {
            let found: (status: Int32, isOwn: Bool) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) {
                guard let buffer = $0.baseAddress else { return (EINVAL, false) }
                var record = Glibc.group()
                var result: UnsafeMutablePointer<Glibc.group>?
                let status = getgrgid_r(group, &record, buffer, $0.count, &result)
                guard let record = result?.pointee, let name = record.gr_name, strcmp(name, entry.name) == 0 else {
                    return (status, false)
                }
                var member = record.gr_mem
                while let name = member?.pointee {
                    if strcmp(name, entry.name) != 0 { return (status, false) }
                    member = member?.successor()
                }
                return (status, true)
            }
            if found.status == ERANGE { size *= 4 } else if found.status != EINTR { return found.isOwn }
        }
        return false
    }

    /// A user's name and group by the user database; `nil` if it has none of that number.
    private static func entry(of user: uid_t) -> (name: [CChar], group: gid_t)? {
        var size = 1024
        while size <= 1 << 20 {
            let found: (status: Int32, entry: (name: [CChar], group: gid_t)?) = withUnsafeTemporaryAllocation(
                of: CChar.self, capacity: size
            ) {
                guard let buffer = $0.baseAddress else { return (EINVAL, nil) }
                var record = passwd()
                var result: UnsafeMutablePointer<passwd>?
                let status = getpwuid_r(user, &record, buffer, $0.count, &result)
                guard let record = result?.pointee, let name = record.pw_name else { return (status, nil) }
                return (status, (Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1)), record.pw_gid))
            }
            if found.status == ERANGE { size *= 4 } else if found.status != EINTR { return found.entry }
        }
        return nil
    }

    /// The user as which all are shown that the namespace of this process does not map; `nil` if it maps that one, too.
    private static let unmapped: uid_t? = {
        guard let map = text("/proc/self/uid_map"), let overflow = text("/proc/sys/kernel/overflowuid"),
            let number = UInt64(overflow.prefix { $0.isNumber })
        else { return nil }
        for line in map.split(separator: "\n") {
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            guard numbers.count == 3 else { return nil }
            if numbers[0] <= number, number - numbers[0] < numbers[2] { return nil }
        }
        return uid_t(exactly: number)
    }()

    private static func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
