import Contracts
import Foundation
import StrictJSON

/// `POST /simulator/exports`: what another system would export of the customers.
extension PurchaseControl {
    /// Customers for each cause of a difference, so that the answer fits into memory.
    private static let differenceLimit = 1_000

    func export(_ body: [UInt8]) throws -> APIAnswer {
        let root = try Self.object(body, ["shape", "bundleId", "environment", "differences"])
        let name = try Self.text("shape", of: root) ?? ""
        guard let shape = ExportShape(rawValue: name) else {
            throw SimulatorError(
                "shape is \(name), and none of \(ExportShape.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        let each = root["differences"]?.int64 ?? 0
        guard (0...Int64(Self.differenceLimit)).contains(each) else {
            throw SimulatorError("differences is \(each), and must be 0 to \(Self.differenceLimit)")
        }
        let app = try app(bundleId: Self.text("bundleId", of: root), environment: Self.text("environment", of: root))
        let takenAt = present()
        var export = try deliveryService.withOutbox { outbox in
            try CustomerExport(
                shape, of: app, selling: catalogue, differences: Int(each), in: &outbox, at: takenAt)
        }
        // Random customers, in an order that does not change.
        let known = export.purchases
        let others = historyStore.withHistory(of: app) { history in
            history.allSubscribers.filter { !known.contains($0.originalTransactionId) }
        }
        for other in others.sorted(by: { $0.originalTransactionId < $1.originalTransactionId }) {
            guard let customer = other.newest.customer else { continue }
            export.add(other.transactions.map(\.purchase), of: customer, other.access)
        }
        otherSystem.take(export)
        return APIAnswer(status: 201) { json in
            export.write(to: &json)
            json.member("text", export.text)
        }
    }
}
