/// A duration of ISO 8601 with a fixed length: weeks, days, hours, minutes and seconds. Months and years have none.
enum PolicyDuration {
    /// Seconds; nil where the text is no such duration or is longer than a hundred years.
    static func seconds(_ text: String) -> Double? {
        guard text.hasPrefix("P"), text.utf8.count <= 40 else { return nil }
        let halves = text.dropFirst().split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
        guard let days = sum(halves[0], [("W", 604_800), ("D", 86_400)]) else { return nil }
        guard halves.count == 2 else { return halves[0].isEmpty ? nil : limited(days) }
        guard !halves[1].isEmpty, let time = sum(halves[1], [("H", 3600), ("M", 60), ("S", 1)]) else { return nil }
        return limited(days + time)
    }

    private static func limited(_ seconds: Double) -> Double? { seconds <= 36_500 * 86_400 ? seconds : nil }

    /// Numbers with units, each unit at most once and in this order.
    private static func sum(_ text: Substring, _ units: [(Character, Double)]) -> Double? {
        var (rest, sum, units) = (text, 0.0, units[...])
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard !digits.isEmpty, digits.count <= 10, let number = Double(String(digits)),
                let letter = rest.dropFirst(digits.count).first,
                let place = units.firstIndex(where: { $0.0 == letter })
            else { return nil }
            sum += number * units[place].1
            units = units[(place + 1)...]
            rest = rest.dropFirst(digits.count + 1)
        }
        return sum
    }
}
