/// What a consumer has polled beside records and not returned yet. No I/O.
struct TurnState {
    /// Postponed because records were polled before it.
    enum Deferred {
        case turn(ConsumerTurn)
        case failure(KafkaError)

        fileprivate func isFailure(of code: Int32) -> Bool {
            if case .failure(let error) = self { error.code == code } else { false }
        }
    }

    private var deferred: [Deferred] = []
    /// Returned and not answered yet.
    private var unanswered: ConsumerTurn?

    /// The same error of several partitions is postponed once.
    mutating func postpone(_ event: Deferred) {
        if case .failure(let error) = event, deferred.contains(where: { $0.isFailure(of: error.code) }) { return }
        deferred.append(event)
    }

    /// True while an error waits to be thrown.
    var isFailing: Bool { deferred.contains { if case .failure = $0 { true } else { false } } }

    /// True while a rebalance comes before further records.
    var isRebalancing: Bool {
        unanswered != nil || deferred.contains { if case .turn = $0 { true } else { false } }
    }

    /// A rebalance that waits for its answer, or what was postponed; nil if polling may continue.
    mutating func next() throws -> ConsumerTurn? {
        if let unanswered { return unanswered }
        guard !deferred.isEmpty else { return nil }
        switch deferred.removeFirst() {
        case .turn(let turn):
            unanswered = turn
            return turn
        case .failure(let error):
            throw error
        }
    }

    /// The caller has taken or returned partitions.
    mutating func answered() { unanswered = nil }
}
