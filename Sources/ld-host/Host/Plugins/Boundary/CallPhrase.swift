/// What a component did to its process, between its name and that of the function, in texts that are never freed.
enum CallPhrase {
    static let ends: StaticString = " ended the process in "
    static let hangs: StaticString = " has not returned from "
}
