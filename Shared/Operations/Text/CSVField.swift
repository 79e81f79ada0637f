import Postgres

extension String {
    /// A field of a CSV file: quoted where it must be; a cell that a spreadsheet would compute is made text.
    package var csvField: String {
        let isNumber = Double(self) != nil
        let isComputed = unicodeScalars.first.map { "=+-@\t\r".unicodeScalars.contains($0) } ?? false
        let safe = !isNumber && isComputed ? "'" + self : self
        guard safe.unicodeScalars.contains(where: { $0 == "," || $0 == "\"" || Character($0).isNewline }) else {
            return safe
        }
        return safe.quoted(by: "\"", within: "\"\"")
    }
}
