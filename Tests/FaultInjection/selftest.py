#!/usr/bin/env python3
"""Proves the fault injector: builds it and a driver in a temporary directory, and asserts what faultshim.c promises.

Run it alone, or with a part of a test's name: selftest.py -k torn. CC chooses the compiler."""

import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = ""


def setUpModule():
    global BUILD
    BUILD = tempfile.mkdtemp(prefix="faultshim-")
    unittest.addModuleCleanup(shutil.rmtree, BUILD)
    compiler = shlex.split(os.environ.get("CC", "cc")) + ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"]
    sources = sorted(os.path.join(HERE, f) for f in os.listdir(HERE) if f.startswith("fault") and f.endswith(".c"))
    subprocess.run(compiler + ["-shared", "-fPIC", "-o", f"{BUILD}/faultshim.so"] + sources, check=True)
    driver = os.path.join(HERE, "selftest_driver.c")
    subprocess.run(compiler + ["-pthread", "-o", f"{BUILD}/driver", driver], check=True)


# The calls of "sequence", and the files before and after each call.
SEQUENCE = "mkdir open write fsetxattr fsync renameat fsync ftruncate sendfile linkat unlink unlinkat rmdir".split()
FULL, BOTH = b"0123456789", b"01230123456789"
STATES = [
    {},
    {"d": None},
    {"d": None, "d/temporary": b""},
    {"d": None, "d/temporary": FULL},
    {"d": None, "d/temporary": FULL, "d/temporary user.test": b"value"},
    {"d": None, "d/temporary": FULL, "d/temporary user.test": b"value"},
    {"d": None, "d/file": FULL, "d/file user.test": b"value"},
    {"d": None, "d/file": FULL, "d/file user.test": b"value"},
    {"d": None, "d/file": b"0123", "d/file user.test": b"value"},
    {"d": None, "d/file": BOTH, "d/file user.test": b"value"},
    {"d": None, "d/file": BOTH, "d/file user.test": b"value", "d/second": BOTH, "d/second user.test": b"value"},
    {"d": None, "d/file": BOTH, "d/file user.test": b"value"},
    {"d": None},
    {},
]
POINTS = range(1, len(SEQUENCE) + 1)
TORN_STATES = {
    3: {"d": None, "d/temporary": b"01234"},
    8: {"d": None, "d/file": b"0123456", "d/file user.test": b"value"},
    9: {"d": None, "d/file": b"012301234", "d/file user.test": b"value"},
}

# The log of "every": call, paths below the root, result. "fd" is any descriptor, "#" an unnamed file.
EVERY = """
creat a fd | creat a fd | open b fd | open b fd | openat c fd | open c fd | openat c fd | open . fd | linkat # named 0
write c 10 | pwrite c 1 | pwrite c 1 | writev c 7 | pwritev c 7 | pwritev c 7 | pwritev2 c 7 | pwritev2 c 7
sendfile c 4 | sendfile c 4 | copy_file_range c 4 | splice c 7
ftruncate c 0 | ftruncate c 0 | truncate c 0 | truncate c -EINVAL
fallocate c 0 | fallocate c 0 | posix_fallocate c 0 | posix_fallocate c -EINVAL
msync c 0 | fsync c 0 | fdatasync c 0 | sync_file_range c 0 | syncfs . 0 | sync / 0
rename a r1 0 | renameat r1 r2 0 | renameat2 r2 c -EEXIST | link c l1 0 | linkat c l2 0
symlink s1 0 | symlinkat s2 0 | mkdir m1 0 | mkdirat m2 0 | mknod n1 0 | mknodat n2 0
unlink l1 0 | unlinkat l2 0 | remove s1 0 | remove m1 0 | rmdir m2 0 | rmdir m2 -ENOENT
setxattr c 0 | lsetxattr c 0 | fsetxattr c 0 | removexattr c 0 | lremovexattr c 0 | fremovexattr c 0
chmod c 0 | fchmod c 0 | fchmodat c 0 | fchmodat s2 * | chown c 0 | fchown c 0 | lchown s2 0 | fchownat c 0
utimensat c 0 | futimens c 0 | fopen f1 0 | freopen f2 0 | freopen f2 0 | fopen f1 0
mkstemp t1-XXXXXX fd | mkstemps t2-XXXXXX.x fd | mkostemp t3-XXXXXX fd | mkostemps t4-XXXXXX.x fd | mkdtemp t5-XXXXXX 0
renameat2 r2 r3 0 | copy_file_range c 3 | unlink tab\\tline\\nback\\\\slash 0
unlink r3 0 | open gone fd | unlink gone 0 | write gone 1 | open odd_(deleted) fd | write odd_(deleted) 1
"""

# Command of "tear": the result for 100 dots when the call is torn (None: it has no half), its result when it is short.
DOTS = b"." * 100


def over(text, at=0):
    return DOTS[:at] + text + DOTS[at + len(text) :]


TEARS = {
    "write": (over(b"abcde"), 5),
    "write-odd": (over(b"a"), 1),
    "write-one": (None, 1),
    "write-none": (None, 0),
    "pwrite": (over(b"abcde", 20), 5),
    "writev": (over(b"abcde"), 5),
    "pwritev": (over(b"abcde", 20), 5),
    "pwritev2": (over(b"abcde", 20), 5),
    "sendfile": (over(b"01234"), 5),
    "sendfile-more": (over(b"456"), 3),
    "copy_file_range": (over(b"01234"), 5),
    "splice": (over(b"abcde"), 5),
    "ftruncate-less": (DOTS[:50], 0),
    "ftruncate-more": (DOTS + bytes(50), 0),
    "ftruncate-same": (None, 0),
    "truncate": (DOTS[:70], 0),
    "fallocate": (DOTS + bytes(100), 0),
    "posix_fallocate": (DOTS + bytes(100), 0),
}


class FaultShim(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="faultshim-run-")
        self.addCleanup(shutil.rmtree, self.base)
        self.fresh()

    def fresh(self):
        """A new root, log and count file."""
        for name in os.listdir(self.base):
            path = os.path.join(self.base, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        self.root, self.log, self.count = (os.path.join(self.base, name) for name in ("root", "log", "count"))
        os.makedirs(f"{self.root}/sub")
        for name, content in [("source", FULL), ("out", DOTS), ("tab\tline\nback\\slash", b"")]:
            with open(os.path.join(self.root, name), "wb") as file:
                file.write(content)

    def start(self, *arguments, shim=True, at=None, mode=None, **settings):
        """Starts the driver in the root."""
        environment = {"PATH": os.environ["PATH"]}
        if shim:
            defaults = {"root": self.root, "log": self.log, "count": self.count, "at": at, "mode": mode}
            environment["LD_PRELOAD"] = f"{BUILD}/faultshim.so"
            for name, value in {**defaults, **settings}.items():
                if value is not None:
                    environment["EARLY" if name == "early" else "LD_FAULT_" + name.upper()] = str(value)
        command = [f"{BUILD}/driver", self.root, *map(str, arguments)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def drive(self, *arguments, **settings):
        """Runs the driver in the root; returns its exit status and printed lines."""
        with self.start(*arguments, **settings) as driver:
            output, self.errors = driver.communicate(timeout=60)
        return driver.returncode, output.splitlines()

    def logged(self):
        """The log: number, call, paths, result."""
        with open(self.log) as file:
            text = file.read()
        self.assertTrue(text == "" or text.endswith("\n"))
        lines = [line.split("\t") for line in text.splitlines()]
        return [(int(number), call, paths, result) for number, call, *paths, result in lines]

    def counted(self):
        with open(self.count, "rb") as file:
            content = file.read()
        self.assertEqual(len(content), 8)
        return struct.unpack("<Q", content)[0]

    def state(self):
        """The files below "d", as STATES describes them."""
        found = {}
        for folder, _, names in os.walk(f"{self.root}/d"):
            found[os.path.relpath(folder, self.root)] = None
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.root)] = file.read()
                for attribute in os.listxattr(path):
                    found[f"{os.path.relpath(path, self.root)} {attribute}"] = os.getxattr(path, attribute)
        return found

    def out(self):
        with open(f"{self.root}/out", "rb") as file:
            return file.read()

    # --- counting, roots, log ---

    def test_every_call_is_counted_and_logged_under_its_name(self):
        status, _ = self.drive("every")
        self.assertEqual(status, 0)
        expected = [entry.split() for line in EVERY.strip().splitlines() for entry in line.split(" | ")]
        log = self.logged()
        for (number, call, paths, result), wanted in zip(log, expected):
            paths = ["#" if re.search(r"/#\d+$", path) else os.path.relpath(path, self.root) for path in paths]
            if call == "sync":
                paths = ["/"]
            if wanted[-1] == "fd" and result.isdigit() or wanted[-1] == "*":
                result = wanted[-1]
            self.assertEqual([call, *(path.replace(" ", "_") for path in paths), result], wanted, f"call {number}")
        self.assertEqual([entry[0] for entry in log], list(range(1, len(expected) + 1)))
        self.assertEqual(self.counted(), len(expected))

    def test_the_program_sees_the_same_results_with_and_without(self):
        _, plain = self.drive("every", shim=False)
        self.assertGreater(len(plain), 60)
        for settings in [{}, {"root": "/nowhere"}, {"root": None}, {"log": None, "count": None}]:
            self.fresh()
            self.assertEqual(self.drive("every", **settings), (0, plain), settings)

    def test_a_path_outside_the_root_does_not_count(self):
        for root in [f"{self.base}/roo", f"{self.root}/sub", "/nowhere"]:
            self.fresh()
            self.drive("every", root=root)
            self.assertEqual([entry[1] for entry in self.logged()], ["sync"], root)

    def test_a_root_may_be_one_of_several_or_a_link_or_untidy(self):
        for root in [f"/nowhere:{self.root}", f"{self.root}/", f"{self.base}/x/..//./root", "/", f"{self.base}/link"]:
            self.fresh()
            os.symlink("root", f"{self.base}/link")
            self.drive("sequence", root=root)
            self.assertEqual([entry[1] for entry in self.logged()], SEQUENCE, root)

    def test_a_rename_counts_if_either_path_is_below_the_root(self):
        os.makedirs(f"{self.base}/other")
        moves = [("source", "../other/a"), ("../other/a", "sub/a"), ("sub/a", "sub/b")]
        for one, other in moves:
            self.drive("move", one, other)
        self.drive("move", "../other", "../another")
        paths = [[os.path.normpath(os.path.join(self.root, path)) for path in move] for move in moves]
        self.assertEqual([entry[1:] for entry in self.logged()], [("rename", pair, "0") for pair in paths])

    def test_without_a_root_all_files_count_and_no_pipe(self):
        self.drive("sequence", root=None)
        self.assertEqual(self.counted(), len(SEQUENCE))
        self.fresh()
        self.assertEqual(self.drive("cancel", root=None), (0, ["cancelled"]))
        self.assertEqual(self.counted(), 0)

    def test_calls_before_any_constructor_count(self):
        self.drive("sequence", 1, early=f"{self.root}/early")
        self.assertEqual([entry[1] for entry in self.logged()], ["open", "mkdir"])
        self.fresh()
        status, _ = self.drive("sequence", early=f"{self.root}/early", at=1, mode="kill-before")
        self.assertEqual((status, os.path.exists(f"{self.root}/early")), (-signal.SIGKILL, False))

    def test_threads_share_the_numbering(self):
        for _ in range(3):
            self.fresh()
            self.assertEqual(self.drive("threads", 8, 300)[0], 0)
            total = 8 * (300 + 1)
            self.assertEqual(self.counted(), total)
            self.assertEqual(sorted(entry[0] for entry in self.logged()), list(range(1, total + 1)))

    def test_processes_with_a_count_file_share_the_numbering(self):
        self.drive("family")
        self.assertEqual((self.counted(), [entry[0] for entry in self.logged()]), (5, [1, 2, 3, 4, 5]))
        self.drive("family")
        self.assertEqual((self.counted(), self.logged()[-1][0]), (10, 10))
        status, lines = self.drive("family", at=13, mode="kill-before")
        expected = ["child 0 ok", "child 1 ok", "child 2 killed", "child 3 ok", "write 10", "child 4 ok"]
        self.assertEqual((status, lines, self.counted()), (0, expected, 15))

    def test_processes_without_a_count_file_count_for_themselves(self):
        self.drive("family", count=None)
        self.assertEqual([entry[0] for entry in self.logged()], [1] * 5)
        _, lines = self.drive("family", count=None, at=1, mode="eio")
        # The last child is the driver again, which prints the error instead of failing.
        failed = [f"child {i} failed" for i in range(4)] + ["write -EIO", "child 4 ok"]
        self.assertEqual(lines, failed)

    def test_forked_processes_can_be_given_settings_of_their_own(self):
        status, lines = self.drive("server", self.root, root="/nowhere", count=None)
        expected = [f"write {'-EIO' if call == child else 1}" for child in (1, 2, 3) for call in (1, 2, 3)]
        self.assertEqual((status, lines), (0, expected))
        self.assertEqual([entry[0] for entry in self.logged()], [1, 2, 3] * 3)

    # --- faults at each point ---

    def test_without_a_fault_the_sequence_runs_through(self):
        for point in POINTS:
            self.fresh()
            status, lines = self.drive("sequence", point)
            self.assertEqual((status, len(lines), self.state(), self.counted()), (0, point, STATES[point], point))
        self.assertEqual([entry[1] for entry in self.logged()], SEQUENCE)

    def kill_at(self, mode, point):
        self.fresh()
        status, lines = self.drive("sequence", at=point, mode=mode)
        self.assertEqual((status, len(lines), self.counted()), (-signal.SIGKILL, point - 1, point))
        log = self.logged()
        self.assertEqual([entry[1] for entry in log], SEQUENCE[:point])
        self.assertEqual([entry[0] for entry in log], list(range(1, point + 1)))
        return log[-1][-1]

    def test_kill_before_does_not_make_the_call(self):
        for point in POINTS:
            self.assertEqual(self.kill_at("kill-before", point), "killed-before")
            self.assertEqual(self.state(), STATES[point - 1], point)

    def test_kill_after_makes_the_call(self):
        for point in POINTS:
            self.assertEqual(self.kill_at("kill-after", point), "killed-after")
            self.assertEqual(self.state(), STATES[point], point)

    def test_kill_torn_makes_half_of_what_has_a_half(self):
        for point in POINTS:
            fate = "killed-torn" if point in TORN_STATES else "killed-before"
            self.assertEqual(self.kill_at("kill-torn", point), fate)
            self.assertEqual(self.state(), TORN_STATES.get(point, STATES[point - 1]), point)

    def fail_everywhere(self, mode, error, made):
        for point in POINTS:
            self.fresh()
            status, lines = self.drive("sequence", point, at=point, mode=mode)
            name = {5: "fsync"}.get(point, SEQUENCE[point - 1])
            self.assertEqual((status, lines[-1]), (0, f"{name} -{error}"))
            self.assertEqual(self.logged()[-1][-1], f"-{error}")
            self.assertEqual(self.state(), STATES[point if made else point - 1], point)

    def test_eio_fails_instead_of_the_call(self):
        self.fail_everywhere("eio", "EIO", made=False)

    def test_enospc_fails_instead_of_the_call(self):
        self.fail_everywhere("enospc", "ENOSPC", made=False)

    def test_eio_after_fails_and_has_made_the_call(self):
        self.fail_everywhere("eio-after", "EIO", made=True)

    def test_stop_makes_the_call_once_the_process_is_continued(self):
        for point in POINTS:
            self.fresh()
            with self.start("sequence", at=point, mode="stop") as driver:
                _, status = os.waitpid(driver.pid, os.WUNTRACED)
                self.assertTrue(os.WIFSTOPPED(status))
                self.assertEqual((self.state(), len(self.logged())), (STATES[point - 1], point - 1))
                driver.send_signal(signal.SIGCONT)
                driver.communicate(timeout=60)
            self.assertEqual((driver.returncode, self.state()), (0, STATES[-1]))

    def test_only_the_chosen_call_fails_unless_every_later_one_shall(self):
        _, lines = self.drive("sequence", at=7, mode="eio")
        self.assertEqual([i for i, line in enumerate(lines, 1) if line.endswith("-EIO")], [7])
        for mode, error in [("eio", "EIO"), ("enospc", "ENOSPC")]:
            self.fresh()
            _, lines = self.drive("sequence", at=7, mode=mode, every=1)
            self.assertEqual([i for i, line in enumerate(lines, 1) if line.endswith("-" + error)], [*range(7, 14)])
            self.assertEqual(self.state(), STATES[6])

    def test_point_zero_and_points_never_reached_do_nothing(self):
        for point in [0, 14]:
            self.fresh()
            status, lines = self.drive("sequence", at=point, mode="kill-before", every=1)
            self.assertEqual((status, len(lines), self.counted()), (0, 13, 13))

    # --- halves ---

    def test_kill_torn_leaves_half(self):
        for name, (torn, _) in TEARS.items():
            with self.subTest(name):
                self.fresh()
                status, _ = self.drive("tear", name, at=1, mode="kill-torn")
                self.assertEqual((status, self.out()), (-signal.SIGKILL, DOTS if torn is None else torn))
                self.assertEqual(self.logged()[0][-1], "killed-before" if torn is None else "killed-torn")

    def test_short_does_half_and_says_so(self):
        for name, (torn, result) in TEARS.items():
            with self.subTest(name):
                self.fresh()
                self.drive("tear", name, shim=False)
                whole = self.out()
                self.fresh()
                call = name.split("-")[0]
                self.assertEqual(self.drive("tear", name, at=1, mode="short"), (0, [f"{call} {result}"]))
                halved = torn is not None and result > 0
                self.assertEqual((self.out(), self.logged()[0][-1]), (torn if halved else whole, str(result)))

    def test_posix_fallocate_fails_with_an_error_number(self):
        self.assertEqual(self.drive("tear", "posix_fallocate", at=1, mode="enospc"), (0, ["posix_fallocate 28"]))
        self.assertEqual(self.out(), DOTS)

    # --- the rest ---

    def test_an_open_that_fails_leaves_no_descriptor(self):
        for name in ["open", "mkstemp", "fopen", "freopen"]:
            for mode, error in [("eio", "EIO"), ("enospc", "ENOSPC"), ("eio-after", "EIO")]:
                with self.subTest(f"{name} {mode}"):
                    self.fresh()
                    lines = self.drive("open", name, at=1, mode=mode)[1]
                    self.assertEqual(lines, [f"{name} -{error}", "descriptors closed"])
                    made = [file for file in os.listdir(self.root) if file.startswith("new")]
                    self.assertEqual(len(made), 1 if mode == "eio-after" else 0)

    def test_a_waiting_write_can_be_cancelled(self):
        self.assertEqual(self.drive("cancel"), (0, ["cancelled"]))
        self.assertEqual(self.drive("cancel", shim=False), (0, ["cancelled"]))

    def test_other_threads_are_held_while_the_process_kills_itself(self):
        os.mkfifo(f"{self.root}/fifo")
        status, _ = self.drive("hold", at=1, mode="kill-after")
        self.assertEqual(status, -signal.SIGKILL)
        self.assertFalse(os.path.exists(f"{self.root}/forbidden"))
        self.assertEqual([entry[1:] for entry in self.logged()], [("write", [f"{self.root}/fifo"], "killed-after")])

    def test_a_kill_among_threads_is_logged(self):
        status, _ = self.drive("threads", 8, 300, at=1000, mode="kill-before")
        self.assertEqual(status, -signal.SIGKILL)
        self.assertEqual([entry[0] for entry in self.logged() if entry[-1] == "killed-before"], [1000])

    def test_settings_that_make_no_sense_end_the_program(self):
        for settings in [
            {"at": 1},
            {"at": 1, "mode": "explode"},
            {"at": "first", "mode": "eio"},
            {"at": "-1", "mode": "eio"},
            {"log": f"{self.base}/none/log"},
            {"count": f"{self.base}/none/count"},
            {"root": ":".join(f"/{i}" for i in range(40))},
        ]:
            status, lines = self.drive("sequence", **settings)
            self.assertEqual((status, lines, self.state()), (125, [], {}), settings)
            self.assertRegex(self.errors, r"^faultshim: LD_FAULT_[A-Z]+=.*: .+\n$")


if __name__ == "__main__":
    unittest.main()
