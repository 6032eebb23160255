"""A file system in memory with the habits of others', and the folder home. Usage: habits.py FOLDER HABIT[,HABIT]...
USER GROUP MODE; goes to the background. USER, GROUP and MODE, which is octal, are those of the home.

    mode755, mode777   all files and folders have this mode; chmod is accepted and has no effect (drvfs, FAT, CIFS)
    nochmod            a new file has the mode that was asked for, and chmod is forbidden (CIFS without modes)
    squash             all files and folders belong to user and group 65534 (NFS all_squash)
    nolink             no hard links (FAT, exFAT, shared folders of virtual machines)
    latelinks          the number of a file's names never goes down (cached attributes: mergerfs, sshfs)
    noxattr, xattrperm no extended attributes; setting them is forbidden
    fold               names that differ in case only are the same (FAT, macOS)
    nfd                names are kept in Unicode's decomposed form (HFS+)
    names143           names of at most 143 bytes (eCryptfs)
    times2             times in steps of two seconds (FAT)
    readonly           nothing can be changed
    noexec             no file can be run
    nolocks            no part of a file can be locked (NFS without its lock service)
"""
import errno
import os
import stat
import sys
import time
import unicodedata

from forgetful import Forgetful
from fusepy import FUSE, FuseOSError, fuse_get_context

HABITS = set(sys.argv[2].split(","))
MODE = 0o755 if "mode755" in HABITS else 0o777 if "mode777" in HABITS else None


class Node:
    def __init__(self, mode, owner=(0, 0)):
        self.mode, (self.uid, self.gid) = mode, owner
        self.time, self.links, self.most = time.time_ns(), 1, 1
        self.content, self.names, self.attributes, self.target = bytearray(), {}, {}, None

    def is_folder(self):
        return stat.S_ISDIR(self.mode)


def kept(name):
    if "nfd" in HABITS:
        name = unicodedata.normalize("NFD", name)
    return name


class Habits(Forgetful):
    use_ns = True

    def __init__(self):
        super().__init__()
        self.root = Node(stat.S_IFDIR | 0o755)
        self.root.names["home"] = Node(stat.S_IFDIR | int(sys.argv[5], 8), (int(sys.argv[3]), int(sys.argv[4])))

    def find(self, folder, name):
        """The name as the folder has it; None if it has none."""
        if not folder.is_folder():
            raise FuseOSError(errno.ENOTDIR)
        if "names143" in HABITS and len(name.encode("utf-8", "surrogateescape")) > 143:
            raise FuseOSError(errno.ENAMETOOLONG)
        name = kept(name)
        if "fold" in HABITS:
            return next((other for other in folder.names if other.lower() == name.lower()), None)
        return name if name in folder.names else None

    def node(self, path):
        node = self.root
        for name in path.split("/"):
            if not name:
                continue
            found = self.find(node, name)
            if found is None:
                raise FuseOSError(errno.ENOENT)
            node = node.names[found]
        return node

    def above(self, path):
        folder, name = os.path.split(path)
        folder = self.node(folder)
        return folder, self.find(folder, name) or kept(name)

    def changing(self):
        if "readonly" in HABITS:
            raise FuseOSError(errno.EROFS)

    def caller(self):
        uid, gid, _ = fuse_get_context()
        return uid, gid

    def access(self, path, mode):
        if "readonly" in HABITS and mode & os.W_OK:
            raise FuseOSError(errno.EROFS)

    def getattr(self, path, fh=None):
        node = self.files[fh] if fh in self.files else self.node(path)
        mode = node.mode if MODE is None or node.target is not None else stat.S_IFMT(node.mode) | MODE
        owner = (65534, 65534) if "squash" in HABITS else (node.uid, node.gid)
        when = node.time // 2_000_000_000 * 2_000_000_000 if "times2" in HABITS else node.time
        links = node.most if "latelinks" in HABITS else node.links
        return {"st_mode": mode, "st_nlink": 2 if node.is_folder() else links, "st_uid": owner[0], "st_gid": owner[1],
                "st_size": len(node.content), "st_mtime": when, "st_ctime": when, "st_atime": when}

    def readdir(self, path, fh):
        return [".", ".."] + list(self.node(path).names)

    def add(self, path, node):
        self.changing()
        folder, name = self.above(path)
        if name in folder.names:
            raise FuseOSError(errno.EEXIST)
        if folder.mode & stat.S_ISGID:
            node.gid = folder.gid
            if node.is_folder():
                node.mode |= stat.S_ISGID
        folder.names[name] = node
        return node

    def mkdir(self, path, mode):
        self.add(path, Node(stat.S_IFDIR | mode, self.caller()))

    def rmdir(self, path):
        self.changing()
        folder, name = self.above(path)
        if self.node(path).names:
            raise FuseOSError(errno.ENOTEMPTY)
        del folder.names[name]

    def create(self, path, mode, fi=None):
        return self.opened(self.add(path, Node(stat.S_IFREG | mode & 0o7777, self.caller())))

    def mknod(self, path, mode, dev):
        self.add(path, Node(mode, self.caller()))

    def symlink(self, path, target):
        self.add(path, Node(stat.S_IFLNK | 0o777, self.caller())).target = target

    def readlink(self, path):
        return self.node(path).target

    def open(self, path, flags):
        if flags & (os.O_WRONLY | os.O_RDWR):
            self.changing()
        node = self.node(path)
        if flags & os.O_TRUNC:
            node.content = bytearray()
        return self.opened(node)

    def write(self, path, data, offset, fh):
        count = super().write(path, data, offset, fh)
        self.files[fh].time = time.time_ns()
        return count

    def truncate(self, path, length, fh=None):
        self.changing()
        super().truncate(path, length, fh)
        (self.files[fh] if fh in self.files else self.node(path)).time = time.time_ns()

    def unlink(self, path):
        self.changing()
        folder, name = self.above(path)
        self.node(path).links -= 1
        del folder.names[name]

    def link(self, new, old):
        if "nolink" in HABITS:
            raise FuseOSError(errno.EPERM)
        node = self.node(old)
        self.add(new, node)
        node.links += 1
        node.most = max(node.most, node.links)

    def rename(self, old, new):
        self.changing()
        source, name = self.above(old)
        node = self.node(old)
        target, as_name = self.above(new)
        if as_name in target.names and target.names[as_name] is not node:
            if target.names[as_name].is_folder() != node.is_folder():
                raise FuseOSError(errno.EISDIR)
            target.names[as_name].links -= 1
        del source.names[name]
        target.names[kept(os.path.basename(new)) if "fold" in HABITS and as_name not in target.names else as_name] = node

    def chmod(self, path, mode):
        self.changing()
        if "nochmod" in HABITS:
            raise FuseOSError(errno.EPERM)
        node = self.node(path)
        node.mode = stat.S_IFMT(node.mode) | mode & 0o7777

    def chown(self, path, uid, gid):
        self.changing()
        node = self.node(path)
        node.uid = node.uid if uid in (-1, 0xFFFFFFFF) else uid
        node.gid = node.gid if gid in (-1, 0xFFFFFFFF) else gid

    def utimens(self, path, times=None):
        self.changing()
        self.node(path).time = times[1] if times else time.time_ns()

    def setxattr(self, path, name, value, options, position=0):
        self.changing()
        if "noxattr" in HABITS:
            raise FuseOSError(errno.ENOTSUP)
        if "xattrperm" in HABITS:
            raise FuseOSError(errno.EPERM)
        self.node(path).attributes[name] = bytes(value)

    def getxattr(self, path, name, position=0):
        if "noxattr" in HABITS:
            raise FuseOSError(errno.ENOTSUP)
        if name not in self.node(path).attributes:
            raise FuseOSError(errno.ENODATA)
        return self.node(path).attributes[name]

    def listxattr(self, path):
        return list(self.node(path).attributes)

    def removexattr(self, path, name):
        self.changing()
        if self.node(path).attributes.pop(name, None) is None:
            raise FuseOSError(errno.ENODATA)

    def statfs(self, path):
        return {"f_bsize": 4096, "f_blocks": 1 << 20, "f_bfree": 1 << 19, "f_bavail": 1 << 19,
                "f_namemax": 143 if "names143" in HABITS else 255}

    if "nolocks" in HABITS:
        def lock(self, path, fh, cmd, lock):
            raise FuseOSError(errno.ENOLCK)

    def fsync(self, path, datasync, fh):
        pass

    def fsyncdir(self, path, datasync, fh):
        pass


if __name__ == "__main__":
    options = {"noexec": True} if "noexec" in HABITS else {}
    if "squash" not in HABITS:
        options["default_permissions"] = True
    FUSE(Habits(), sys.argv[1], foreground=False, nothreads=True, allow_other=True,
         hard_remove=True, entry_timeout=0, attr_timeout=0, negative_timeout=0, fsname="habits", **options)
