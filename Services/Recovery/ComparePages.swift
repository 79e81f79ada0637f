import Contracts
import Pipeline
import Storage

/// Compares history pages with the ledger.
///
/// Uses only the uuid of the unverified payloads: missing notifications go through the pipeline and all its checks.
struct ComparePages: Stage {
    let items: RecoveryItemStore

    func process(_ deliveries: [Delivery<HistoryPage>]) async throws -> [StageResult<ComparedPage, ComparisonReason>] {
        let listed = deliveries.map { $0.message.items.map(ComparedItem.init) }
        let recorded = try await items.recorded(Array(Set(listed.flatMap(\.named))))
        return zip(deliveries, listed).map { delivery, items in
            .forward(ComparedPage(page: delivery.message, items: items.compared(with: recorded)))
        }
    }
}

/// Why an item of Apple's history was rejected.
enum ComparisonReason: String, StageReason {
    case undecodable
    /// The payload has no readable notificationUUID.
    case unreadable

    /// Both concern messages of the scheduler or Apple's payloads, never unsolicited requests.
    var countsTowardsRejectionLimit: Bool { true }
}
