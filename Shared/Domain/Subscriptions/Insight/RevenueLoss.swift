/// The dimensions of a cell that a question tells apart.
package struct RevenueDimensions: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let currency = RevenueDimensions(rawValue: 1)
    package static let product = RevenueDimensions(rawValue: 2)
    package static let storefront = RevenueDimensions(rawValue: 4)
    package static let period = RevenueDimensions(rawValue: 8)
    package static let offer = RevenueDimensions(rawValue: 16)

    /// Every choice of them, by its number.
    fileprivate static let choices = (0..<32).map(RevenueDimensions.init(rawValue:))
}

/// Where a purchase earned at the beginning of a span of time and not at its end.
///
/// A customer who changes the product leaves the one and not the other, so whether a purchase was lost depends on the dimensions that a
/// question tells apart: losses by product do not add up to losses. So each says in which of the 32 choices of dimensions it is one.
package struct RevenueLoss: Sendable, Hashable {
    /// Where it earned.
    package var cell: RevenueCell
    /// The bit `1 << dimensions.rawValue` is set where it is a loss in a question that tells these dimensions apart; -1 for all.
    package var choices: Int32

    /// - Parameter movements: all of the span, in any order.
    package static func all(of movements: some Sequence<RevenueMovement>) -> [RevenueLoss] {
        var change: [RevenueCell: Int] = [:]
        for movement in movements { change[movement.cell, default: 0] += movement.purchases }
        change = change.filter { $0.value != 0 }
        let left = change.filter { $0.value < 0 }.keys.sorted()
        guard change.count > 1 else { return left.map { RevenueLoss(cell: $0, choices: -1) } }
        return left.compactMap { cell in
            var choices: UInt32 = 0
            for dimensions in RevenueDimensions.choices {
                let place = cell.texts(dimensions)
                let here = change.filter { $0.key.texts(dimensions) == place }
                // Where several cells are one place in this question, the first stands for it.
                guard here.reduce(0, { $0 + $1.value }) < 0, left.first(where: { here[$0] != nil }) == cell else {
                    continue
                }
                choices |= 1 << UInt32(dimensions.rawValue)
            }
            return choices == 0 ? nil : RevenueLoss(cell: cell, choices: Int32(bitPattern: choices))
        }
    }

    /// Whether a number as in `choices` counts in a question.
    package static func counts(_ choices: Int64, for dimensions: RevenueDimensions) -> Bool {
        choices >> Int64(dimensions.rawValue) & 1 == 1
    }
}

extension RevenueCell {
    /// What a question sees of it.
    fileprivate func texts(_ dimensions: RevenueDimensions) -> [String] {
        [
            dimensions.contains(.currency) ? currency : "", dimensions.contains(.product) ? productId : "",
            dimensions.contains(.storefront) ? storefront : "", dimensions.contains(.period) ? period : "",
            dimensions.contains(.offer) ? offer : "",
        ]
    }
}
