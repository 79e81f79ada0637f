import Operations
import ServerAPI
import Storage

import struct Foundation.UUID

extension QuestionBudget<UUID> {
    /// Takes what a request of a key is about to ask, or refuses it.
    func take(
        _ key: ClientKey, _ count: Int = 1, for endpoint: APIEndpoint = .transactionInfo,
        at now: ContinuousClock.Instant
    ) throws(Problem) {
        let decision = take(key.id, in: key.environment, count, for: endpoint, at: now)
        guard !decision.isAllowed else { return }
        throw .exhausted(
            key, "has asked Apple as much as one key may", seconds: decision.seconds,
            "wait \(decision.seconds) s, and upload what is signed in place of ids")
    }

    /// Takes what belongs to a question that was allowed: a further page of its answer.
    func charge(
        _ key: ClientKey, _ count: Int = 1, for endpoint: APIEndpoint, at now: ContinuousClock.Instant
    ) {
        charge(key.id, in: key.environment, count, for: endpoint, at: now)
    }
}
