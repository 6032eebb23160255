import Testing

@Suite("A campaign's log of changes")
struct EditLogTests {
    private func log(_ texts: String...) -> EditLog {
        var log = EditLog()
        for text in texts { log.add(EditLog.Device(text)) }
        return log
    }

    @Test("an acknowledged value is lost unless it is there, was kept, or was replaced by an editor that knew it")
    func lost() {
        let both = log("try 1 k 0.1 -\ndone 1\nend\n", "try 1 k 1.1 -\ndone 1\nend\n")
        #expect(both.lost(current: ["0.1"], losers: []) == ["1.1"])
        #expect(both.lost(current: ["0.1"], losers: ["1.1"]) == [])
        #expect(log("try 1 k 0.1 -\ndone 1\ntry 2 k 0.2 0.1\ndone 2\n").lost(current: ["0.2"], losers: []) == [])
        #expect(log("try 1 k 0.1 -\ndone 1\ntry 2 k 0.2 -\ndone 2\n").lost(current: ["0.2"], losers: []) == ["0.1"])
    }

    @Test("a killed editor's last attempt may have taken effect; an attempt that was repeated has not")
    func killed() {
        let killed = log("try 1 k 0.1 -\ndone 1\ntry 2 k 0.2 0.1\ntry 3 m 0.3 -\ndone 3\nend\n")
        #expect(killed.lost(current: ["0.3"], losers: []) == [])
        #expect(killed.returned(current: ["0.1", "0.3"]) == [])
        let again = log("try 1 k 0.1 -\ndone 1\ntry 2 k 0.2 0.1\ntry 2 k 0.2 1.7\ndone 2\nend\n")
        #expect(again.lost(current: ["0.2"], losers: []) == ["0.1"])
    }

    @Test("a value must not exist that an acknowledged change replaced or removed, or that no editor wrote")
    func returned() {
        let removal = log("try 1 k 0.1 -\ndone 1\ntry 2 k - 0.1\ndone 2\nend\n")
        #expect(removal.returned(current: ["0.1"]) == ["0.1"])
        #expect(removal.returned(current: []) == [] && removal.lost(current: [], losers: []) == [])
        #expect(removal.invented(["0.1", "torn"]) == ["torn"])
    }

    @Test("a failed change is reported, and may have taken effect")
    func failed() {
        let failed = log("try 1 k 0.1 -\ndone 1\ntry 2 k 0.2 0.1\nfailed 2 busy\nend\n")
        #expect(failed.failures == ["failed 2 busy"])
        #expect(failed.lost(current: [], losers: []) == [])
    }
}
