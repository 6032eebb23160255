/// Files of this project that new plugins get a copy of, word for word. They are part of the program because it is
/// installed as one file.
enum EmbeddedText {}
