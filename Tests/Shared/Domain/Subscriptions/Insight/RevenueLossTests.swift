import Foundation
import Subscriptions
import TestSupport
import Testing

/// In which questions a purchase was lost, against the definition: it earned in fewer cells at the end than at the beginning.
@Suite struct RevenueLossTests {
    private static func cell(_ number: Int) -> RevenueCell {
        var cell = RevenueCell(Sample.purchase(.consumable, "coins"), period: nil)
        cell.currency = number & 1 == 0 ? "EUR" : "USD"
        cell.productId = number & 2 == 0 ? "gold" : "platinum"
        cell.storefront = number & 4 == 0 ? "DEU" : "USA"
        cell.period = number & 8 == 0 ? "P1M" : "P1Y"
        cell.offer = number & 16 == 0 ? "" : "code"
        return cell
    }

    private static func movement(_ number: Int, _ purchases: Int) -> RevenueMovement {
        RevenueMovement(
            at: Sample.beginning, kind: .churn, cell: cell(number), value: .zero, purchases: purchases,
            transactionId: "1")
    }

    /// The cell as a question sees it.
    private static func seen(_ cell: RevenueCell, _ choice: Int) -> [String] {
        let texts = [cell.currency, cell.productId, cell.storefront, cell.period, cell.offer]
        return texts.enumerated().map { choice >> $0 & 1 == 1 ? $1 : "" }
    }

    @Test func `A purchase that ended is lost in every question, one that goes on or came in none`() {
        #expect(
            RevenueLoss.all(of: [Self.movement(5, -1)]).map(\.choices) == [-1])
        #expect(RevenueLoss.all(of: [Self.movement(5, -1), Self.movement(5, 1)]).isEmpty)
        #expect(RevenueLoss.all(of: [Self.movement(5, 1)]).isEmpty)
    }

    @Test func `A change of product is a loss where products are told apart`() throws {
        let losses = RevenueLoss.all(of: [Self.movement(0, -1), Self.movement(2, 1)])
        let loss = try #require(losses.first)
        #expect(losses.count == 1 && loss.cell == Self.cell(0))
        #expect(RevenueLoss.counts(Int64(loss.choices), for: [.product]))
        #expect(RevenueLoss.counts(Int64(loss.choices), for: [.product, .currency]))
        #expect(!RevenueLoss.counts(Int64(loss.choices), for: [.currency, .storefront, .period, .offer]))
        #expect(!RevenueLoss.counts(Int64(loss.choices), for: []))
    }

    @Test func `Losses are those of the definition in each of the 32 questions`() {
        var generator = SeededGenerator(state: 1)
        for _ in 0..<500 {
            let movements = (0..<Int.random(in: 1...5, using: &generator)).map { _ in
                Self.movement(
                    Int.random(in: 0..<32, using: &generator) & 19, Bool.random(using: &generator) ? 1 : -1)
            }
            let losses = RevenueLoss.all(of: movements)
            for choice in 0..<32 {
                let change = Dictionary(
                    movements.map { (Self.seen($0.cell, choice), $0.purchases) }, uniquingKeysWith: +)
                let counted = losses.filter {
                    RevenueLoss.counts(Int64($0.choices), for: RevenueDimensions(rawValue: choice))
                }
                #expect(
                    counted.map { Self.seen($0.cell, choice) }.sorted { $0.lexicographicallyPrecedes($1) }
                        == change.filter { $0.value < 0 }.keys.sorted { $0.lexicographicallyPrecedes($1) },
                    "\(choice)")
            }
            #expect(RevenueLoss.all(of: movements.reversed()) == losses)
        }
    }
}
