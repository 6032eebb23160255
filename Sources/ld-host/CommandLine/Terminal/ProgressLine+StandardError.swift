internal import Glibc
internal import HostClients
internal import LocalDataHost

extension ProgressLine {
    /// How far a command is, on standard error.
    convenience init(_ label: String, total: Int? = nil, isShown: Bool = true) {
        guard isShown, isatty(STDERR_FILENO) == 1 else {
            self.init(label, total: total, in: isShown ? .lines : .nowhere) { Output.remark("ld-host: \($0)") }
            return
        }
        self.init(label, total: total, in: .terminal(width: { Self.width })) { Output.bar($0) }
    }

    /// How many columns the terminal has, as far as it says so.
    private static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
