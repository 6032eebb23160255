import HostClients
import LocalDataHost
import Synchronization
import Testing

@Suite("The progress line of a long command")
struct ProgressLineTests {
    /// A clock that stands still until it is set, and a record of the lines shown.
    private final class Scene: Sendable {
        private let start = ContinuousClock.now
        private let elapsed = Mutex(Duration.zero)
        private let written = Mutex<[String]>([])

        var lines: [String] { written.withLock { $0 } }

        func line(_ label: String, total: Int? = nil, in place: ProgressLine.Place) -> ProgressLine {
            ProgressLine(
                label, total: total, in: place, now: { self.start + self.elapsed.withLock { $0 } },
                write: { text in self.written.withLock { $0.append(text) } })
        }

        func wait(_ duration: Duration) { elapsed.withLock { $0 += duration } }
    }

    @Test("without a terminal gives the count, the rate and the remaining time every few seconds")
    func lines() {
        let scene = Scene()
        let line = scene.line("importing", total: 7910, in: .lines)
        for _ in 0..<3000 {
            line.advance()
            scene.wait(.milliseconds(4))
        }
        line.finish()
        // At 3 s and at 8 s of 12.
        #expect(
            scene.lines == [
                "importing: 751 of 7,910, 250 a second, 29 s left",
                "importing: 2,001 of 7,910, 250 a second, 24 s left",
            ])
    }

    @Test("shows the time that a total needs which never ends")
    func endless() {
        let scene = Scene()
        let line = scene.line("restoring", total: .max, in: .lines)
        for _ in 0..<4 {
            line.advance()
            scene.wait(.seconds(2))
        }
        line.finish()
        #expect(scene.lines.last?.hasSuffix(" left") == true, "\(scene.lines)")
    }

    @Test("shows nothing for a short run", arguments: [false, true])
    func short(isTerminal: Bool) {
        let scene = Scene()
        let line = scene.line("importing", total: 100, in: isTerminal ? .terminal(width: { 80 }) : .lines)
        for done in 1...100 {
            line.show(done, of: 100)
            scene.wait(isTerminal ? .milliseconds(4) : .milliseconds(29))
        }
        line.finish()
        #expect(scene.lines == [])
    }

    @Test("in a terminal is one line with a bar that fits, and then disappears", arguments: [200, 80, 60, 40, 20, 5])
    func bar(width: Int) {
        let scene = Scene()
        let line = scene.line("copying", in: .terminal(width: { width }))
        for done in 1...1000 {
            scene.wait(.milliseconds(10))
            line.show(done, of: 1000)
        }
        #expect(scene.lines.count == 96)
        #expect(scene.lines.allSatisfy { !$0.isEmpty && $0.count < width })
        #expect(scene.lines.contains { $0.contains("[") } == (width >= 60))
        if width == 80 {
            #expect(
                scene.lines[45] == "copying [################................] 500 of 1,000, 100 a second, 5 s left")
        }
        line.finish()
        #expect(scene.lines.last == "")
        line.finish()
        #expect(scene.lines.count == 97)
    }

    @Test("counts each step by itself, and does not guess an unknown end")
    func steps() {
        let scene = Scene()
        let line = scene.line("copying", in: .lines)
        scene.wait(.seconds(100))
        line.show(StepProgress(step: "comparing", done: 1, total: 1001))
        scene.wait(.seconds(10))
        line.show(StepProgress(step: "comparing", done: 1001, total: 1001))
        scene.wait(.seconds(1))
        line.show(StepProgress(step: "copying", done: 0, total: 40))
        scene.wait(.seconds(400))
        line.show(StepProgress(step: "copying", done: 10, total: 40))
        scene.wait(.seconds(20))
        line.show(12_345)
        scene.wait(.seconds(20))
        line.show(12_545)
        #expect(
            scene.lines == [
                "comparing: 1 of 1,001", "comparing: 1,001 of 1,001, 100 a second, 0 s left",
                "copying: 10 of 40, 2 a minute, 20 min left", "copying: 12,345", "copying: 12,545, 10 a second",
            ])
    }

    @Test("does not count the time until the first item is done")
    func lateStart() {
        let scene = Scene()
        let line = scene.line("importing", total: 1000, in: .lines)
        scene.wait(.seconds(60))
        line.advance()
        scene.wait(.seconds(10))
        for _ in 0..<100 { line.advance() }
        #expect(scene.lines == ["importing: 1 of 1,000", "importing: 2 of 1,000, 6 a minute, 2 h 46 min left"])
    }

    @Test("can be turned off")
    func nowhere() {
        let scene = Scene()
        let line = scene.line("exporting", in: .nowhere)
        scene.wait(.seconds(100))
        line.advance()
        line.finish()
        #expect(scene.lines == [])
    }
}
