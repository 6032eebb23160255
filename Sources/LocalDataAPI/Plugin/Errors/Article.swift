/// A type's name with its indefinite article, for messages: `an Int`, `a String`.
package func withArticle(_ type: Any.Type) -> String {
    let name = "\(type)"
    // Types that begin with U are read as "you": a UUID, a URL, a User.
    return name.first.map { "AEIOaeio".contains($0) } == true ? "an \(name)" : "a \(name)"
}
