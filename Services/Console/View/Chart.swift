/// A line chart of a few points, with its sentence for people who do not see it.
struct Chart: Sendable {
    struct Point: Sendable {
        let x: String
        let y: String
        let title: String
        /// Hollow: not every day of it is complete.
        let isOpen: Bool
    }

    /// A value of a chart: what it is of, itself, as people read it, and whether it is final.
    struct Value: Sendable {
        let name: String
        /// Nil leaves a gap in the line.
        let number: Double?
        let text: String
        let isComplete: Bool
    }

    let title: String
    let description: String
    /// The line as an SVG path.
    let line: String
    let points: [Point]
    /// The height of zero.
    let zero: String
    let first: String
    let last: String

    private static let (width, height, margin) = (640.0, 180.0, 12.0)

    /// Nil for fewer than two numbers.
    /// - Parameter values: at equal distances.
    init?(_ title: String, _ values: [Value]) {
        let known = values.compactMap { value in value.number.map { (value: value, number: $0) } }
        guard known.count > 1, let first = known.first?.value, let last = known.last?.value,
            let most = known.max(by: { $0.number < $1.number })
        else { return nil }
        let (low, high) = (min(0, known.map(\.number).min() ?? 0), max(0, most.number))
        let scale = high > low ? (Self.height - 2 * Self.margin) / (high - low) : 0
        func y(_ number: Double) -> Double { Self.height - Self.margin - (number - low) * scale }
        func text(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
        let placed = values.enumerated().map { index, value in
            value.number.map { number in
                Point(
                    x: text(Self.margin + Double(index) * (Self.width - 2 * Self.margin) / Double(values.count - 1)),
                    y: text(y(number)),
                    title: "\(value.name): \(value.text)" + (value.isComplete ? "" : ", not complete"),
                    isOpen: !value.isComplete)
            }
        }
        points = placed.compactMap(\.self)
        line = placed.indices.compactMap { index in
            placed[index].map { point in
                (index > 0 && placed[index - 1] != nil ? "L" : "M") + "\(point.x) \(point.y)"
            }
        }.joined(separator: " ")
        zero = text(y(0))
        self.title = title
        description =
            "From \(first.text) in \(first.name) to \(last.text) in \(last.name), at most \(most.value.text) in "
            + "\(most.value.name). The table below has each value."
        self.first = values.first?.name ?? ""
        self.last = values.last?.name ?? ""
    }
}
