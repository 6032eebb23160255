import FoundationEssentials
import TestSupport
import Testing

/// The Python packages that the tests of Python's clients need.
enum PythonPackages {
    /// The folder in which `.ci/require-python`, which the Makefile runs, installs the packages.
    static let folder = "\(Repository.root)/.build/python"

    /// Whether the packages are installed. They are not if PyPI could not be reached.
    static let areInstalled = FileManager.default.fileExists(atPath: "\(folder)/.packages")

    /// Why a test is skipped.
    static let reason: Comment =
        "NOT TESTED: docker-py and the latest keyring are not in .build/python; see .ci/require-python"
}
