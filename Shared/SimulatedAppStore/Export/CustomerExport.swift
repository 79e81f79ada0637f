import Contracts
import StrictJSON

import struct Foundation.Date

/// The export of an app's customers by another system, with differences from what Apple says in known numbers. Pure.
struct CustomerExport: Sendable {
    /// When it says what it says.
    let takenAt: Date
    let shape: ExportShape
    let app: App
    private(set) var records: [ExportedRecord] = []
    /// Entitlements of customers in which they differ, by cause.
    private(set) var differences: [DifferenceCause: Int] = [:]

    /// The customers who bought by command, and so many more for each cause of a difference.
    /// - Parameters:
    ///   - catalogue: what the app sells.
    ///   - outbox: has the purchases, and sends what happens to the new ones.
    /// - Throws: ``SimulatorError`` where what a cause needs cannot happen.
    init(
        _ shape: ExportShape, of app: App, selling catalogue: Catalogue, differences: Int, in outbox: inout Outbox,
        at takenAt: Date
    ) throws {
        self.shape = shape
        self.app = app
        self.takenAt = takenAt
        let differing = DifferingCustomers(app: app, catalogue: catalogue)
        var altered: [String: DifferenceCause] = [:]
        for cause in DifferenceCause.allCases {
            for _ in 0..<differences {
                if let id = try differing.buy(for: cause, in: &outbox, at: takenAt) { altered[id] = cause }
            }
        }
        outbox.bringTimeUpTo(takenAt)
        for purchase in outbox.manualPurchases.all where purchase.customer.app == app {
            add(
                purchase.transactions, of: purchase.customer, purchase.access.periods,
                cause: purchase.purchase.flatMap { altered[$0.originalTransactionId] })
        }
        var identities = Identities(seed: UInt64(differences), now: takenAt)
        for cause in DifferenceCause.allCases {
            for _ in 0..<differences { add(cause, identities: &identities) }
        }
    }

    /// The purchases in the file.
    var purchases: Set<String> { Set(records.compactMap(\.originalTransactionId)) }

    /// Adds what the other system has of a purchase.
    /// - Parameter cause: why it is wrong about the newest transaction; nil where it is not.
    mutating func add(
        _ transactions: [Purchase], of customer: Customer, _ periods: [ExpectedAccess.Period],
        cause: DifferenceCause? = nil
    ) {
        var records = ExportedRecord.records(of: transactions, for: customer, periods)
        if let cause { alter(&records, cause) }
        self.records += records
    }

    private mutating func alter(_ records: inout [ExportedRecord], _ cause: DifferenceCause) {
        guard let last = records.indices.last else { return }
        var newest = records[last]
        switch cause {
        case .gracePeriod:
            newest.graceEnd = nil
            newest.effectiveEnd = newest.end
        case .billingRetry: newest.effectiveEnd = takenAt.adding(16 * 86_400)
        case .familySharing, .unexplained: newest.effectiveEnd = newest.start
        case .refundInFull, .refundProrated:
            newest.refundedAt = nil
            newest.effectiveEnd = newest.end
        case .refundReversed:
            newest.refundedAt = newest.start
            newest.effectiveEnd = newest.start
        case .upgrade where shape.isOfEvents:
            // It has not heard of it: the better product is missing there, too.
            records.removeLast()
            records[last - 1].effectiveEnd = records[last - 1].end
            differences[cause, default: 0] += 2
            return
        case .upgrade: records[0].effectiveEnd = records[0].end
        case .otherOwner:
            var other = newest
            other.customerId = "other-\(newest.customerId)"
            records.append(other)
        case .nonRenewingDuration: newest.effectiveEnd = takenAt.adding(-60)
        case .endWithinFiveMinutes: newest.effectiveEnd = takenAt.adding(120)
        case .grantByHand, .otherStore, .sandbox, .unknownToApple: return
        }
        records[last] = newest
        differences[cause, default: 0] += 1
    }

    /// Adds a customer whose access there has a cause that is no purchase of the app at Apple; nothing for other causes.
    mutating func add(_ cause: DifferenceCause, identities: inout Identities) {
        let id = identities.transactionId(in: cause == .sandbox ? .sandbox : app.environment)
        var record = ExportedRecord(
            customerId: "customer-\(identities.appTransactionId())", isSandbox: app.environment == .sandbox,
            transactionId: id, originalTransactionId: id, productId: "\(app.bundleId).only-there",
            start: takenAt.adding(-86_400), end: takenAt.adding(29 * 86_400), effectiveEnd: takenAt.adding(29 * 86_400))
        switch cause {
        case .grantByHand where shape.hasAccessByHand:
            record.store = .byHand
            record.transactionId = nil
            record.originalTransactionId = nil
        case .otherStore:
            record.store = .playStore
            record.transactionId = "GPA.\(id)"
            record.originalTransactionId = "GPA.\(id)"
        // In the sandbox nothing is another environment's.
        case .sandbox where app.environment == .production: record.isSandbox = true
        case .unknownToApple: break
        default: return
        }
        records.append(record)
        differences[cause, default: 0] += 1
    }

    /// The file.
    var text: String { shape.text(of: records) }

    /// Writes the contents of the file, and the number of customers who differ.
    func write(to json: inout JSONWriter) {
        let own = records.filter { $0.store == .appStore && $0.isSandbox == (app.environment == .sandbox) }
        json.member("shape", shape.rawValue)
        json.member("bundleId", app.bundleId)
        json.member("environment", app.environment.rawValue)
        json.member("takenAt", takenAt.milliseconds)
        json.member("records", records.count)
        // Those that can be asked about: of the App Store and the environment.
        json.member("customers", Set(own.map(\.customerId)).count)
        json.member("purchases", Set(own.compactMap(\.originalTransactionId)).count)
        json.beginObject("differences")
        for cause in DifferenceCause.allCases {
            if let count = differences[cause] { json.member(cause.rawValue, count) }
        }
        json.endObject()
    }
}
