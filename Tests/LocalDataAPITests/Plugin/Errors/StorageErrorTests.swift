import LocalDataAPI
import Testing

@Suite struct StorageErrorTests {
    static let numbers: [Int32] = Array(1...15) + Array(32...47)

    @Test("every code has its own sentence, in lower case and without a period", arguments: numbers)
    func summaries(_ number: Int32) {
        let error = StorageError(StorageError.Code(rawValue: number))
        #expect(error.message == error.code.summary)
        #expect(error.message != "error \(number)")
        #expect(error.message.first?.isLowercase == true && error.message.last != ".")
    }

    @Test("no two codes share a sentence")
    func distinct() {
        #expect(Set(Self.numbers.map { StorageError.Code(rawValue: $0).summary }).count == Self.numbers.count)
    }

    @Test("a pattern matches by code alone, and never another code or another error")
    func patterns() {
        struct Other: Error {}
        func fail(with error: any Error) throws { throw error }
        func caught(_ error: any Error) -> String {
            do {
                try fail(with: error)
                return "nothing"
            } catch StorageError.notFound {
                return "notFound"
            } catch StorageError.noSpace {
                return "noSpace"
            } catch { return "other" }
        }
        #expect(caught(StorageError(.notFound, "one message", hint: "one hint")) == "notFound")
        #expect(caught(StorageError(.noSpace)) == "noSpace")
        #expect(caught(StorageError(.busy)) == "other")
        #expect(caught(Other()) == "other")
        #expect(StorageError(.busy, "a") == StorageError(.busy, "b") && StorageError(.busy) != StorageError(.timedOut))
    }

    @Test("a number that this version does not know keeps its value", arguments: [0, 16, 31, 62, 9999, -7] as [Int32])
    func unknownNumbers(_ number: Int32) {
        let error = StorageError(StorageError.Code(rawValue: number))
        #expect(error.code.rawValue == number && error.message == "error \(number)")
        #expect(error != StorageError.unknown)
    }

    @Test("a description has the hint, if any, after the message")
    func description() {
        #expect("\(StorageError(.busy, "in use"))" == "in use")
        #expect("\(StorageError(.busy, "in use", hint: "wait"))" == "in use (wait)")
    }
}
