import JSON
import LocalDataAPI
import ReaderExercise
@testable import MigrationManifest

/// Compares a value of the host's own JSON with the value that a decoder of the toolchain read.
enum Likeness {
    /// Whether two values are the same except for the digits of their numbers. The toolchain's encoder writes one
    /// object for 0.0 and -0.0, if a list has both.
    static func isSame(_ left: JSON, _ right: JSON) -> Bool {
        switch (left.content, right.content) {
        case (.number(let left), .number(let right)): Double(left) == Double(right)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
        case (.object(let left), .object(let right)):
            left.members.count == right.members.count
                && left.members.allSatisfy { member in right[member.name].map { isSame(member.value, $0) } ?? false }
        default: left == right
        }
    }

    static func require(_ json: JSON, _ value: AnyCodable, _ promise: String) throws {
        switch (json.content, value.content) {
        case (.array(let left), .array(let right)):
            try ReaderExercise.require(left.count == right.count, promise)
            for (left, right) in zip(left, right) { try require(left, right, promise) }
        case (.object(let object), .dictionary(let members)):
            // Two spellings of one character are two names here, but one name there.
            for member in object.members {
                guard let other = members[member.name] else { throw Violation(promise) }
                let isUnique = object.members.count { $0.name == member.name } == 1
                if isUnique { try require(member.value, other, promise) }
            }
        case (.number(let text), .int(let number)): try ReaderExercise.require(Double(text) == Double(number), promise)
        case (.number(let text), .double(let number)):
            // A float has as many digits as it takes to distinguish floats.
            let isFloat = Double(Float(number)) == number && Float(text) == Float(number)
            try ReaderExercise.require(Double(text) == number || isFloat, promise)
        case (.bool(let left), .bool(let right)): try ReaderExercise.require(left == right, promise)
        case (.string(let left), .string(let right)): try ReaderExercise.require(left == right, promise)
        case (.null, .null): break
        // Bytes and dates are strings and numbers only in JSON.
        default: throw Violation("\(promise): \(json.kind)")
        }
    }
}
