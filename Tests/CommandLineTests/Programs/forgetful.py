"""A file system that keeps only what was synchronized: fsync of a file keeps its content, fsync of a folder its names.
Making the folder /.power-cut drops everything else. Usage: forgetful.py FOLDER [cached]; goes to the background. With
"cached" files can be mapped into memory, and the kernel does not notice a power cut."""
import errno
import os
import stat
import sys
import time

from fusepy import FUSE, FuseOSError, Operations


class Node:
    def __init__(self, mode):
        self.mode, self.uid, self.gid, self.time = mode, os.getuid(), os.getgid(), time.time()
        self.content, self.names = bytearray(), {}
        self.kept_content, self.kept_names = bytearray(), {}

    def is_folder(self):
        return stat.S_ISDIR(self.mode)

    def cut(self, seen):
        if id(self) in seen:
            return
        seen.add(id(self))
        self.content, self.names = bytearray(self.kept_content), dict(self.kept_names)
        for node in self.names.values():
            node.cut(seen)


class Forgetful(Operations):
    def __init__(self):
        self.root = Node(stat.S_IFDIR | 0o755)
        self.files, self.number = {}, 0

    def node(self, path):
        node = self.root
        for name in path.split("/"):
            if not name:
                continue
            if not node.is_folder():
                raise FuseOSError(errno.ENOTDIR)
            if name not in node.names:
                raise FuseOSError(errno.ENOENT)
            node = node.names[name]
        return node

    def above(self, path):
        folder, name = os.path.split(path)
        return self.node(folder), name

    def getattr(self, path, fh=None):
        node = self.files[fh] if fh in self.files else self.node(path)
        return {"st_mode": node.mode, "st_nlink": 2 if node.is_folder() else 1, "st_uid": node.uid, "st_gid": node.gid,
                "st_size": len(node.content), "st_mtime": node.time, "st_ctime": node.time, "st_atime": node.time}

    def readdir(self, path, fh):
        return [".", ".."] + list(self.node(path).names)

    def mkdir(self, path, mode):
        if path == "/.power-cut":
            self.root.cut(set())
            return
        folder, name = self.above(path)
        if name in folder.names:
            raise FuseOSError(errno.EEXIST)
        folder.names[name] = Node(stat.S_IFDIR | mode)

    def rmdir(self, path):
        folder, name = self.above(path)
        if self.node(path).names:
            raise FuseOSError(errno.ENOTEMPTY)
        del folder.names[name]

    def create(self, path, mode, fi=None):
        folder, name = self.above(path)
        folder.names[name] = Node(stat.S_IFREG | mode)
        return self.opened(folder.names[name])

    def open(self, path, flags):
        node = self.node(path)
        if flags & os.O_TRUNC:
            node.content = bytearray()
        return self.opened(node)

    def opened(self, node):
        self.number += 1
        self.files[self.number] = node
        return self.number

    def release(self, path, fh):
        self.files.pop(fh, None)

    def read(self, path, size, offset, fh):
        return bytes(self.files[fh].content[offset:offset + size])

    def write(self, path, data, offset, fh):
        node = self.files[fh]
        if len(node.content) < offset:
            node.content = node.content.ljust(offset, b"\0")
        node.content[offset:offset + len(data)] = data
        node.time = time.time()
        return len(data)

    def truncate(self, path, length, fh=None):
        node = self.files[fh] if fh in self.files else self.node(path)
        node.content = node.content[:length].ljust(length, b"\0")

    def unlink(self, path):
        folder, name = self.above(path)
        self.node(path)
        del folder.names[name]

    def link(self, new, old):
        folder, name = self.above(new)
        if name in folder.names:
            raise FuseOSError(errno.EEXIST)
        folder.names[name] = self.node(old)

    def rename(self, old, new):
        source, name = self.above(old)
        node = self.node(old)
        target, as_name = self.above(new)
        if as_name in target.names and target.names[as_name].is_folder() != node.is_folder():
            raise FuseOSError(errno.EISDIR)
        del source.names[name]
        target.names[as_name] = node

    def chmod(self, path, mode):
        node = self.node(path)
        node.mode = stat.S_IFMT(node.mode) | mode

    def chown(self, path, uid, gid):
        pass

    def utimens(self, path, times=None):
        pass

    def fsync(self, path, datasync, fh):
        node = self.files[fh] if fh in self.files else self.node(path)
        node.kept_content = bytearray(node.content)

    def fsyncdir(self, path, datasync, fh):
        node = self.node(path)
        node.kept_names = dict(node.names)


if __name__ == "__main__":
    FUSE(Forgetful(), sys.argv[1], foreground=False, nothreads=True, direct_io=len(sys.argv) < 3, entry_timeout=0, attr_timeout=0,
         negative_timeout=0, fsname="forgetful")
