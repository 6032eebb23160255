internal import FoundationEssentials
internal import Glibc
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// The child process that tests a plugin: whatever the plugin does ends with this process.
package enum ConformanceChild {
    /// Executes the order on standard input and returns the exit status.
    package static func run() -> Int32 {
        let answers = StandardOutput.results
        do {
            let order = try JSONDecoder().decode(ConformanceOrder.self, from: input())
            let image = try PluginImage.load(order.file)
            switch order.task {
            case .script(let script):
                // The waiting parent may have been killed; then nobody else ends this process.
                alarm(60)
                let store = try ConformanceSubject(image: image, component: order.component, options: order.options)
                    .openStore(in: script.folder)
                write(try JSONEncoder().encode(PeerActor(store: store, script: script).act()), to: answers)
            case .checks(let ids, let folder, let program):
                let subject = try ConformanceSubject(
                    image: image, component: order.component, options: order.options, program: program)
                ConformanceRun(subject, folder: folder)(
                    try ConformanceCheck.all(for: [subject.kind], only: Set(ids)),
                    begin: { tell(.began($0.id), to: answers) },
                    end: { tell(.ended($0), to: answers) })
            }
            return 0
        } catch {
            let text = Array("\(error)\n".utf8)
            write(Data(text), to: STDERR_FILENO)
            return 2
        }
    }

    private static func tell(_ event: ConformanceEvent, to descriptor: Int32) {
        guard let line = try? JSONEncoder().encode(event) else { return }
        write(line + Data("\n".utf8), to: descriptor)
    }

    private static func write(_ data: Data, to descriptor: Int32) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func input() -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(STDIN_FILENO, &buffer, buffer.count), count > 0 {
            data.append(contentsOf: buffer[..<count])
        }
        return data
    }
}
