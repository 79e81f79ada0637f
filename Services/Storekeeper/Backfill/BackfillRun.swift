import AppStore
import Commands
import Contracts
import Foundation
import Kafka
import Pipeline
import ServerAPI

/// Fetches customers' histories from Apple, some in parallel, and sends the signed objects to the pipeline.
struct BackfillRun: Sendable {
    /// Results so far.
    struct Counts: Sendable, Equatable {
        var customers = 0
        var signedObjects = 0
        /// Failed customers by original transaction id, with the reason.
        var rejected: [String: String] = [:]
        /// The account that the newest transaction of a purchase names, by the id that Apple was asked about.
        var accounts: [String: UUID] = [:]
        /// The original transaction ids of those asked about that are ids of other transactions of a purchase.
        var originals: [String: String] = [:]
    }

    let client: AppStoreServerAPI
    let producer: Producer
    let seal: RecordSeal
    let journal: BackfillJournal
    let parallel: Int
    let now: @Sendable () -> Date
    /// Is called with an id of ``Counts/originals`` before the id counts as done: a killed run would not learn it again.
    var found: @Sendable (_ id: String, _ original: String) async throws -> Void = { _, _ in }

    private struct Customer: Sendable {
        var id: String
        var original: String?
        var appAccountToken: UUID?
        var outcome: Result<Int, Rejected>
    }

    private struct Rejected: Error {
        var reason: String
    }

    /// - Parameters:
    ///   - ids: customers to import.
    ///   - total: including those of earlier runs.
    /// - Throws: an error that affects all customers: Apple or Kafka unavailable, a rejected key.
    func run(_ ids: [String], of total: Int) async throws -> Counts {
        let (waiting, add) = AsyncStream<String>.makeStream()
        for id in ids { add.yield(id) }
        add.finish()
        return try await run(waiting, of: total, doneBefore: total - ids.count)
    }

    /// - Parameters:
    ///   - ids: customers to import, as they become known.
    ///   - total: the most that there can be, including those of earlier runs.
    ///   - doneBefore: of earlier runs.
    /// - Throws: as the other one.
    func run(_ ids: AsyncStream<String>, of total: Int, doneBefore: Int) async throws -> Counts {
        let display = ProgressDisplay()
        var progress = ProgressLine(
            noun: "customers", total: total, done: doneBefore, doneBefore: doneBefore, elapsed: .zero)
        var tally = Counts()
        try await withThrowingTaskGroup(of: Customer.self) { group in
            var waiting = ids.makeAsyncIterator()
            for _ in 0..<parallel {
                if let id = await waiting.next() { group.addTask { try await customer(id) } }
            }
            while let customer = try await group.next() {
                if let id = await waiting.next() { group.addTask { try await self.customer(id) } }
                tally.customers += 1
                tally.accounts[customer.id] = customer.appAccountToken
                tally.originals[customer.id] = customer.original
                switch customer.outcome {
                case .success(let count): tally.signedObjects += count
                case .failure(let rejected): tally.rejected[customer.id] = rejected.reason
                }
                progress.done += 1
                display.show(progress)
            }
        }
        progress.total = progress.done
        if tally.customers > 0 { display.show(progress, isLast: true) }
        return tally
    }

    /// Waits while Apple's rate limit is exhausted: the run may take hours, and other clients share the app's limit.
    private func customer(_ id: String) async throws -> Customer {
        while true {
            do {
                return try await asked(id)
            } catch APIError.rateLimited(let until) {
                try await Task.sleep(for: .seconds(min(max(1, until.timeIntervalSince(now())), 60)))
            }
        }
    }

    private func asked(_ id: String) async throws -> Customer {
        do {
            let history = try await history(of: id)
            let receivedAt = now()
            try await producer.send(
                history.signed.map { part in
                    seal.sealed(
                        ProducerRecord(
                            Topics.received,
                            ReceivedNotification(
                                signedPayload: part.jws, source: .history, receivedAt: receivedAt,
                                bundleId: client.app.bundleId, status: part.status)))
                })
            if let rejection = history.rejections.first {
                return Customer(id: id, outcome: .failure(Rejected(reason: "verification failed: \(rejection)")))
            }
            let original = history.original(of: id)
            if let original { try await found(id, original) }
            try journal.note(id)
            return Customer(
                id: id, original: original, appAccountToken: history.account(of: original ?? id),
                outcome: .success(history.signed.count))
        } catch let error as KafkaError {
            let end = error.hint == nil ? "." : ""
            throw CommandError(
                "\(error.messageWithHint)\(end) Progress is saved; run the same command to continue.")
        } catch let error as APIError {
            if case .rateLimited = error { throw error }
            // An error about this customer is a result; any other error affects all customers.
            guard case .rejected = error, !error.isRetryable else {
                throw CommandError("\(error). Progress is saved; run the same command to continue.")
            }
            return Customer(id: id, outcome: .failure(Rejected(reason: "\(error)")))
        }
    }

    /// A customer's transactions in Apple's order; the order of application does not matter.
    private func history(of id: String) async throws -> History {
        var history = History()
        var query = TransactionHistoryQuery()
        query.sort = .ascending
        for try await page in client.transactionHistory(of: id, query) {
            for transaction in page.transactions { history.add(transaction) }
        }
        let askedAt = now()
        for item in try await client.subscriptionStatuses(of: id).groups.flatMap(\.items) {
            let signedDates = [item.transaction?.value?.signedDate, item.renewalInfo?.value?.signedDate]
            let status = item.status.map {
                AnsweredStatus(status: $0.rawValue, askedAt: askedAt, signedDates: signedDates)
            }
            if let transaction = item.transaction { history.add(transaction, status) }
            if let renewalInfo = item.renewalInfo { history.add(renewalInfo) }
        }
        return history
    }

    private struct History {
        /// As Apple signed them, with what it answered beside them.
        var signed: [(jws: [UInt8], status: AnsweredStatus?)] = []
        var rejections: [VerificationFailure] = []
        private var transactions: [JWSTransactionDecodedPayload] = []

        /// The account that the newest transaction of a purchase names.
        func account(of id: String) -> UUID? {
            let newest = transactions.filter { $0.originalTransactionId == id }.max { one, other in
                (one.signedDate ?? .distantPast) < (other.signedDate ?? .distantPast)
            }
            return newest?.appAccountToken.flatMap { UUID(uuidString: $0) }
        }

        /// The purchase of another transaction than its first; nil for the id of a purchase.
        func original(of id: String) -> String? {
            guard !transactions.contains(where: { $0.purchaseId == id }) else { return nil }
            return transactions.first { $0.transactionId == id }?.purchaseId
        }

        mutating func add<Value>(_ item: SignedItem<Value>, _ status: AnsweredStatus? = nil) {
            switch item.proof {
            case .success:
                signed.append((item.jws, status))
                if let transaction = item.value as? JWSTransactionDecodedPayload { transactions.append(transaction) }
            case .failure(let rejection): rejections.append(rejection)
            }
        }
    }
}
