import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Builds the packages, which takes minutes, and installs them in a Debian without Swift, which requires root.
@Suite("The Debian packages", .serialized, .enabled(if: TestRun.isTorture && geteuid() == 0))
struct InstalledPackagesAsRootTests {
    private static let folder = "\(Repository.root)/.build/package"
    /// The result of building the packages, for all tests of this suite.
    private static let built = Result { try DebianRoot.run("cd '\(Repository.root)' && make package") }

    init() throws { _ = try Self.built.get() }

    @Test("have neither an error nor a warning of lintian")
    func isClean() throws {
        try DebianRoot.run("lintian --allow-root --fail-on error,warning '\(Self.folder)'/*.deb")
    }

    @Test("have the same bytes when they are built again from scratch")
    func areReproducible() throws {
        let first = try TemporaryFolder()
        try DebianRoot.run(
            """
            cp '\(Self.folder)'/*.deb '\(first.path)'
            rm -rf '\(Self.folder)/source'
            cd '\(Repository.root)' && make package
            for package in '\(first.path)'/*.deb; do cmp "$package" '\(Self.folder)'/"${package##*/}"; done
            """)
    }

    @Test("run the README's session, a migration and git's helper without Swift, and leave only the user's data")
    func worksInstalled() throws {
        let root = try DebianRoot()
        try #require(try root.run("command -v swift || true").isEmpty)
        let before = try root.files()
        try DebianRoot.run(
            "mkdir '\(root.path)/home/packages' && cp '\(Self.folder)'/*.deb '\(root.path)/home/packages'")
        try root.run("apt-get update --quiet=2 && apt-get install --yes --quiet=2 /home/packages/*.deb")

        let session = "\(Repository.tests)/PackagingTests/Session"
        try DebianRoot.run("install -m 644 '\(session)/session.sh' '\(root.path)/home/session.sh'")
        let output = try root.run("sh /home/session.sh", as: "ann")
        #expect(output == (try String(contentsOfFile: "\(session)/expected.txt", encoding: .utf8)))

        let data = try root.run("find /home/ann -type f | sort")
        try root.run("apt-get purge --yes --quiet=2 --autoremove 'localdata*' liblocaldata-dev")
        #expect(try root.files().symmetricDifference(before) == [])
        #expect(try root.run("find /home/ann -type f | sort") == data)
        #expect(data.contains("/home/ann/.local/share/localdata/"))
    }

    @Test("have the files that pkg-config and CMake need to build a plugin in C, also in another folder")
    func buildsPlugins() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(
            atPath: "\(Repository.root)/Examples/CBackend", toPath: "\(folder.path)/CBackend")
        try folder.write(
            """
            cmake_minimum_required(VERSION 3.16)
            project(CBackend C)
            find_package(LocalData 0.1 REQUIRED)
            add_library(CBackend MODULE cbackend.c)
            target_link_libraries(CBackend LocalData::Plugin)

            """.utf8, to: "CBackend/CMakeLists.txt")
        try DebianRoot.run(
            """
            cd '\(folder.path)'
            dpkg-deb --extract '\(Self.folder)'/liblocaldata-dev_*.deb installed
            export PKG_CONFIG_PATH=$PWD/installed/usr/share/pkgconfig
            make -C CBackend INCLUDE="$(pkg-config --variable=includedir localdata)" LD_HOST='\(BuiltProducts.host)' test
            cc -shared -fPIC $(pkg-config --cflags localdata) -o libByHand.so CBackend/cbackend.c
            cmake -S CBackend -B cmake -DCMAKE_PREFIX_PATH="$PWD/installed/usr"
            cmake --build cmake
            '\(BuiltProducts.host)' plugins inspect cmake/libCBackend.so
            """)
    }
}
