import FoundationEssentials
import TestSupport
import Testing

/// What Python's clients are tested with.
enum PythonPackages {
    /// The folder with what `.ci/require-python` installed, as the Makefile has it done.
    static let folder = "\(Repository.root)/.build/python"

    /// Whether that is there. It is not if PyPI could not be reached.
    static let areInstalled = FileManager.default.fileExists(atPath: "\(folder)/.packages")

    /// Why a test is skipped.
    static let reason: Comment =
        "NOT TESTED: docker-py and the latest keyring are not in .build/python; see .ci/require-python"
}
