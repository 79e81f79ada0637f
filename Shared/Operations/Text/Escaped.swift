extension String {
    /// The text with control and direction characters escaped as in JSON: received text must not be able to overwrite
    /// the terminal.
    package var escaped: String {
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
