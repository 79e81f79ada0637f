extension String {
    /// Between two marks, with another text in place of each mark within.
    ///
    /// By scalars: a mark that a combining character follows is another character to Swift, and the same mark to a server, a
    /// shell or a spreadsheet.
    package func quoted(by mark: Unicode.Scalar, within text: String) -> String {
        var quoted = String(mark)
        for scalar in unicodeScalars {
            if scalar == mark { quoted += text } else { quoted.unicodeScalars.append(scalar) }
        }
        quoted.unicodeScalars.append(mark)
        return quoted
    }
}
