extension String {
    /// A field of a CSV file: quoted where it must be; a cell that a spreadsheet would compute is made text.
    package var csvField: String {
        let isNumber = Double(self) != nil
        let safe = !isNumber && (first.map { "=+-@\t\r".contains($0) } ?? false) ? "'" + self : self
        guard safe.contains(where: { ",\"\r\n".contains($0) || $0.isNewline }) else { return safe }
        return "\"" + safe.replacing("\"", with: "\"\"") + "\""
    }
}
