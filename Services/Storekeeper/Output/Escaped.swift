extension String {
    /// The text with what steers a terminal or turns the direction of writing shown as JSON escapes it: what a stranger
    /// wrote must not paint over what is said of it.
    var escaped: String {
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
