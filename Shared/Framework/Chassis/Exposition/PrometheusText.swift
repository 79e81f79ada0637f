/// The text format 0.0.4, line by line.
enum PrometheusText {
    static func head(_ metric: Metric) -> String {
        let kind =
            switch metric.kind {
            case .counter: "counter"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        return "# HELP \(metric.name) \(escaped(metric.help, quotes: false))\n# TYPE \(metric.name) \(kind)\n"
    }

    static func sample(_ name: String, _ labels: [(String, String)], _ value: Double) -> String {
        guard !labels.isEmpty else { return "\(name) \(number(value))\n" }
        let pairs = labels.map { "\($0.0)=\"\(escaped($0.1, quotes: true))\"" }
        return "\(name){\(pairs.joined(separator: ","))} \(number(value))\n"
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }

    /// A name that the format allows: everything else becomes an underscore.
    static func name(_ label: String) -> String {
        var name = ""
        for character in label.unicodeScalars {
            let isDigit = ("0"..."9").contains(character)
            let isLetter = ("a"..."z").contains(character) || ("A"..."Z").contains(character) || character == "_"
            if isDigit, name.isEmpty { name += "_" }
            name += isDigit || isLetter ? String(character) : "_"
        }
        return name.isEmpty ? "_" : name
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
