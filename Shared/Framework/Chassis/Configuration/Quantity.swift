/// Numbers with a unit, as operators write them.
enum Quantity {
    /// Longer is a mistake, and in nanoseconds no number of 64 bits.
    private static let longest = Duration.seconds(36_525 * 86_400)

    /// Units are required: `30` could mean seconds or milliseconds. Nil for more than a hundred years, too.
    static func duration(_ text: String) -> Duration? {
        guard let duration = anyDuration(text), duration <= longest else { return nil }
        return duration
    }

    private static func anyDuration(_ text: String) -> Duration? {
        guard let (number, unit) = split(text) else { return nil }
        switch unit {
        case "ms": return .milliseconds(number)
        case "s": return .seconds(number)
        case "m": return product(number, 60).map { .seconds($0) }
        case "h": return product(number, 3600).map { .seconds($0) }
        case "d": return product(number, 86400).map { .seconds($0) }
        default: return nil
        }
    }

    static func bytes(_ text: String) -> Int? {
        guard let (number, unit) = split(text) else { return nil }
        switch unit {
        case "", "B": return number
        case "KiB": return product(number, 1 << 10)
        case "MiB": return product(number, 1 << 20)
        case "GiB": return product(number, 1 << 30)
        default: return nil
        }
    }

    private static func split(_ text: String) -> (number: Int, unit: Substring)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits) else { return nil }
        return (number, text[digits.endIndex...].drop { $0 == " " })
    }

    private static func product(_ number: Int, _ factor: Int) -> Int? {
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? nil : product
    }
}

extension Substring {
    func trimmed() -> String {
        var text = drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
