import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

/// A client of the campaign.
struct Client {
    let store: OpenStore
    let thread: Int
    let history: History

    /// Sets or removes a value, or sets two that belong together in a batch, which removes a third one.
    func write() throws {
        while let call = history.next() {
            let value = "\(thread) \(call)"
            switch call % 8 {
            case 0..<4: try history.writing(value, to: ["single"]) { try store.set("single", value) }
            case 4: try history.writing("", to: ["single"]) { _ = try store.remove("single") }
            case 5: try history.writing(value, to: ["other"]) { try store.set("other", value) }
            default:
                try history.writing(value, to: ["left", "other", "right"], removing: "other") {
                    try store.apply([("left", value), ("other", nil), ("right", value)])
                }
            }
        }
    }

    /// Reads all values of one moment.
    func read() throws {
        while history.next() != nil {
            let begin = history.now()
            // Values that were already passed cannot be read again, so a lost connection ends the listing.
            guard let values = try history.reached({ try store.values() }) else { continue }
            if values["left"] != values["right"] { history.note("a batch is torn: \(values)") }
            for name in ["single", "left", "other"] { values[name].map { history.saw($0, of: name, since: begin) } }
        }
    }

    /// Replaces the value that it has read, or creates it.
    func replace() throws {
        while let call = history.next() {
            let value = "\(thread) \(call)"
            let begin = history.now()
            guard let found = try history.reached({ try store.revisioned("single") }) else { continue }
            if let found { history.saw(found.text, of: "single", since: begin) }
            let condition = found.map { WriteCondition.revision($0.revision) } ?? .absent
            try history.writing(value, to: ["single"]) { try store.set("single", value, if: condition) != nil }
        }
    }

    /// Adds 1 until nobody else did at the same time.
    func count(_ name: String) throws {
        while history.next() != nil {
            var isDone = false
            while !isDone {
                guard let reached = try history.reached({ try store.revisioned(name) }) else { continue }
                guard let found = reached, let number = Int(found.text) else {
                    return history.note("\(name) is gone")
                }
                isDone = try history.counting(name) {
                    try store.set(name, "\(number + 1)", if: .revision(found.revision)) != nil
                }
            }
        }
    }
}
