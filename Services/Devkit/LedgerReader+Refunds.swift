import Contracts
import Postgres
import Storage

import struct Foundation.Date

extension LedgerReader {
    private static let page = 1000

    /// All refund requests, with what was decided about each.
    /// - Parameter now: decides which are over.
    func refunds(at now: Date) async throws -> [RefundCheck.Request] {
        let pages = RefundRequestPages(connection)
        var requests: [RefundCheck.Request] = []
        var policies: [CoverageStore.App: Date?] = [:]
        var position: (Date, String)?
        while true {
            let entries = try await pages.page(in: nil, after: position, limit: Self.page, at: now)
            for entry in entries {
                let app = CoverageStore.App(entry.key.environment, entry.bundleId)
                if policies[app] == nil {
                    policies[app] = .some(
                        try await RefundPolicyStore(connection).versions(of: app.bundleId, in: app.environment).last?
                            .createdAt)
                }
                let answers = entry.answer == nil ? [] : try await pages.answers(entry.key)
                requests.append(
                    RefundCheck.Request(
                        environment: entry.key.environment, transactionId: entry.key.transactionId,
                        state: entry.state.rawValue,
                        unanswered: try await reason(of: entry, policySince: policies[app] ?? nil),
                        answers: answers.compactMap { answer in
                            answer.body.map {
                                RefundCheck.Answer(
                                    body: $0, attempts: Int(answer.attempts), isSent: answer.sentAt != nil)
                            }
                        }))
            }
            guard entries.count == Self.page, let last = entries.last else { return requests }
            position = (last.requestedAt, last.key.transactionId)
        }
    }

    /// Why a request has no answer and gets none; nil where it has one, or is to get one.
    private func reason(of entry: RefundRequestPages.Entry, policySince: Date?) async throws -> String? {
        switch entry.state {
        case .answered, .waiting, .failed: return nil
        case .open: return policySince == nil ? "noPolicy" : nil
        case .missed: return entry.answer?.body == nil ? "late" : nil
        case .unanswered:
            guard let policySince else { return "noPolicy" }
            return entry.deadline <= policySince ? "signedTooLongAgo" : "decidedBefore"
        case .withheld:
            guard let because = entry.answer?.withheldBecause else { return "consentWithdrawn" }
            guard because == "consent" else { return because }
            return try await RefundRequestPages(connection).account(of: entry) == nil ? "noAccount" : "consent"
        }
    }
}
