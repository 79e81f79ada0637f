extension String {
    /// Shortened and without NUL characters, which Postgres cannot store.
    ///
    /// Cut at 512 bytes, never within a scalar. A single character can have any number of them, so characters are no
    /// measure of size.
    var storable: String {
        var cut = String.UnicodeScalarView()
        var bytes = 0
        for scalar in unicodeScalars where scalar != "\0" {
            bytes += UTF8.width(scalar)
            guard bytes <= 512 else { break }
            cut.append(scalar)
        }
        return String(cut)
    }
}
