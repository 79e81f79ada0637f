import Contracts
import Pipeline
import Storage

/// Which of what Apple lists do we lack?
///
/// Nothing is believed of the payloads but the uuid to look for: what is lacking goes through the line and its checks.
struct Recover: Stage {
    let items: RecoveryItemStore

    func process(_ deliveries: [Delivery<HistoryPage>]) async throws -> [StageResult<ComparedPage, RecoverReason>] {
        let listed = deliveries.map { $0.message.items.map(ComparedItem.init) }
        let recorded = try await items.recorded(Array(Set(listed.flatMap(\.named))))
        return zip(deliveries, listed).map { delivery, items in
            .forward(ComparedPage(page: delivery.message, items: items.compared(with: recorded)))
        }
    }
}

/// Why something that Apple listed was put aside.
enum RecoverReason: String, StageReason {
    case undecodable
    /// A payload on a page without a uuid one could look for.
    case unreadable

    /// Both are messages of the scheduler or payloads of Apple, which no stranger writes.
    var countsTowardsRejectionLimit: Bool { true }
}
