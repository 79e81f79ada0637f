/// What a consumer has polled and not given out yet. No I/O.
struct TurnState {
    /// What has to wait because records were polled before it.
    enum Deferred {
        case turn(ConsumerTurn)
        case failure(KafkaError)
    }

    /// Polled while the caller wanted none; the first records of the next turn.
    private(set) var held: [ConsumerRecord] = []
    private var deferred: [Deferred] = []
    /// Given out and not answered yet.
    private var unanswered: ConsumerTurn?

    mutating func hold(_ record: ConsumerRecord) { held.append(record) }

    mutating func postpone(_ event: Deferred) { deferred.append(event) }

    /// True while a rebalance stands between the caller and further records.
    var isRebalancing: Bool {
        unanswered != nil || deferred.contains { if case .turn = $0 { true } else { false } }
    }

    /// Records held, up to a limit, before everything else.
    mutating func takeHeld(limit: Int) -> [ConsumerRecord] {
        let taken = Array(held.prefix(limit))
        held.removeFirst(taken.count)
        return taken
    }

    /// A rebalance that waits for its answer, or what was postponed; nil if polling may go on.
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

    /// The caller has taken or given back partitions: what was read for the assignment before is void.
    mutating func answered() {
        unanswered = nil
        held = []
    }

    /// The caller goes elsewhere in these partitions: what was read ahead of that is void.
    mutating func forget(_ partitions: Set<TopicPartition>) {
        held.removeAll { partitions.contains($0.topicPartition) }
    }
}
