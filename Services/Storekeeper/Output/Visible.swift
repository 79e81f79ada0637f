extension String {
    /// The text with what steers a terminal or turns the direction of writing shown as JSON escapes it: what a stranger
    /// wrote must not paint over what is said of it.
    var visible: String {
        var visible = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    visible += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: visible.unicodeScalars.append(scalar)
            }
        }
        return visible
    }
}
