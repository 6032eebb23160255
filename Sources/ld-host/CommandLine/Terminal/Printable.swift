internal import LocalDataHost

/// Text for a line of output, as ``PrintableText`` shows it: a line stays a line, and a terminal is not steered.
struct Printable: CustomStringConvertible {
    let description: String

    init(_ text: String) { description = PrintableText.escaped(text) }
}
