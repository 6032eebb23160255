/// A call failed because this object is locked.
struct Locked: Error {
    let path: String
}
