import Contracts

/// Compares the refund requests of the database with the answers that the simulated App Store took. Pure.
struct RefundCheck: Sendable {
    /// A request about a transaction, and what was decided.
    struct Request: Sendable, Equatable {
        var environment: StoreEnvironment
        var transactionId: String
        /// `answered`, `open`, … as `storekeeper refunds list` shows it.
        var state: String
        /// Why nothing is to be sent, or was; nil where something is.
        var unanswered: String?
        /// Every body that was stored about the transaction.
        var answers: [Answer] = []
    }

    /// A stored body.
    struct Answer: Sendable, Equatable {
        var body: String
        var attempts: Int
        /// Whether Apple's 202 was read.
        var isSent: Bool
    }

    private static let waiting: Set = ["open", "waiting"]

    var requests: [Request]

    /// Whether nothing is to be answered any more.
    var isSettled: Bool {
        requests.allSatisfy { $0.unanswered != nil || !Self.waiting.contains($0.state) }
    }

    /// - Parameter stored: uuids of the ledger.
    func compare(with record: RunRecord, stored: Set<String>, _ findings: inout CheckFindings) {
        let taken = Dictionary(grouping: record.refundAnswers) { Self.name($0.environment, $0.transactionId) }
        let known = Dictionary(
            requests.map { (Self.name($0.environment, $0.transactionId), $0) }, uniquingKeysWith: { first, _ in first })
        var asked: Set<String> = []
        for notification in record.notifications
        where notification.notificationType == "CONSUMPTION_REQUEST" && notification.expectedRejection == nil
            && stored.contains(notification.uuid)
        {
            guard let id = notification.transactionId else { continue }
            let name = Self.name(notification.environment, id)
            guard asked.insert(name).inserted else { continue }
            findings.refundRequests += 1
            guard let request = known[name] else {
                findings.differences.append(
                    Difference(of: name, field: "refund request", expected: "is known", found: "is not known"))
                continue
            }
            judge(request, name, taken: taken[name, default: []].map(\.body), &findings)
        }
        for name in taken.keys.sorted() where !asked.contains(name) {
            findings.differences.append(
                Difference(
                    of: name, field: "refund answer", expected: nil, found: "an answer that Apple did not ask for"))
        }
    }

    private func judge(_ request: Request, _ name: String, taken: [String], _ findings: inout CheckFindings) {
        let received = Dictionary(taken.map { ($0, 1) }, uniquingKeysWith: +)
        let bodies = Dictionary(grouping: request.answers, by: \.body)
        for (body, answers) in bodies {
            let count = received[body] ?? 0
            let sent = answers.count(where: \.isSent)
            // A process that was killed, or an answer that was lost, repeats the same bytes.
            let greatest = answers.reduce(0) { $0 + $1.attempts }
            if count < sent || count > greatest {
                findings.differences.append(
                    Difference(of: name, field: "refund answer", expected: "\(sent) times", found: "\(count) times"))
            }
            findings.refundAnswersRepeated += max(0, count - answers.count)
        }
        for body in received.keys.sorted() where bodies[body] == nil {
            findings.differences.append(Difference(of: name, field: "refund answer", expected: nil, found: body))
        }
        if request.state == "answered" {
            findings.refundsAnswered += 1
        } else if let reason = request.unanswered {
            findings.refundsUnanswered[reason, default: 0] += 1
        } else {
            findings.differences.append(
                Difference(of: name, field: "refund request", expected: "answered", found: request.state))
        }
    }

    private static func name(_ environment: StoreEnvironment, _ transactionId: String) -> String {
        "\(environment.rawValue) \(transactionId)"
    }
}
