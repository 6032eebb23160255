internal import CLinux
internal import FoundationEssentials
internal import Glibc
internal import MigrationExercise

/// `serve PLUGIN...` reads orders from standard input, one JSON text a line, until the input ends. It runs each in a
/// separate process, and prints its exit status, or 128 plus the number of the signal that ended it, and `ready`.
enum Server {
    /// Serves until the input ends; this process has one thread.
    ///
    /// - Returns: The arguments, in a forked process that has an order.
    static func serve(plugins: [String]) -> [String] {
        // The host opens the same files later, so they are loaded only once.
        for plugin in plugins where dlopen(plugin, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) == nil {
            fail("\(plugin): \(String(cString: dlerror()))")
        }
        Program.write("ready\n", to: STDOUT_FILENO)
        while let line = readLine() {
            guard let order = try? JSONDecoder().decode(ExerciseOrder.self, from: Data(line.utf8)) else {
                fail("no order: \(line)")
            }
            let child = ld_linux_fork()
            if child == 0 {
                begin(order)
                return order.words
            }
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0 {
                guard errno == EINTR else { fail("no process: \(errno)") }
            }
            let signal = status & 0x7F
            Program.write("\(signal == 0 ? status >> 8 & 0xFF : 128 + signal)\nready\n", to: STDOUT_FILENO)
        }
        exit(0)
    }

    private static func begin(_ order: ExerciseOrder) {
        ld_linux_end_with_parent()
        alarm(ExerciseOrder.limit)
        redirect(STDIN_FILENO, to: "/dev/null", O_RDONLY)
        redirect(STDOUT_FILENO, to: order.output, O_WRONLY | O_CREAT | O_TRUNC)
        redirect(STDERR_FILENO, to: order.errors, O_WRONLY | O_CREAT | O_TRUNC)
        for name in ExerciseOrder.settings { unsetenv(name) }
        for (name, value) in order.faults { setenv(name, value, 1) }
        guard let configure = dlsym(nil, "ld_fault_configure_again") else { fail("the fault injector is not loaded") }
        unsafeBitCast(configure, to: (@convention(c) () -> Void).self)()
    }

    private static func redirect(_ descriptor: Int32, to path: String, _ flags: Int32) {
        let file = open(path, flags | O_CLOEXEC, 0o600)
        guard file >= 0, dup2(file, descriptor) == descriptor else { fail("\(path): \(errno)") }
        close(file)
    }

    private static func fail(_ message: String) -> Never {
        Program.write("migration-exercise: error: \(message)\n", to: STDOUT_FILENO)
        exit(2)
    }
}
