/// Counts during a run.
struct Count: Sendable {
    private var tally = Tally()
    private var latencies = Latencies()
    private var access: [String: (periods: [String], age: EventPayload.Age)] = [:]
    /// Number of purchases whose expected access is reported at the end.
    private let reportedPurchases: Int

    init(reportedPurchases: Int = 0) { self.reportedPurchases = reportedPurchases }

    mutating func begin(_ pending: PendingNotification) {
        tally.notifications += 1
        if pending.invalidVariant != nil { tally.forgeries += 1 }
        guard pending.invalidVariant == nil, let periods = pending.event.access,
            let purchase = pending.event.purchase
        else { return }
        let name = "\(pending.event.app.environment.rawValue) \(purchase.originalTransactionId)"
        let age = pending.event.age
        if let known = access[name] {
            // An older event that is sent later.
            guard known.age < age else { return }
        } else {
            guard access.count < reportedPurchases else { return }
        }
        access[name] = (periods.map { $0.sentence(in: pending.event.app.bundleId) }, age)
    }

    mutating func end(_ delivery: NotificationDelivery, _ answer: Answer, _ consequence: Outbox.Consequence) {
        tally.deliveries += 1
        if delivery.attempt > 1 { tally.retries += 1 }
        if delivery.isRepetition { tally.repetitions += 1 }
        tally.answers[answer.status.map(String.init) ?? answer.failure ?? "no answer", default: 0] += 1
        if answer.status != nil { latencies.add(answer.duration) }
        // A repetition is not a notification of its own.
        guard !delivery.isRepetition else { return }
        switch consequence {
        case .accepted: tally.accepted += 1
        case .givenUp: tally.givenUp += 1
        case .retried: break
        }
    }

    mutating func addUpload(_ answer: Answer) {
        tally.uploads[answer.status.map(String.init) ?? answer.failure ?? "no answer", default: 0] += 1
    }

    /// One line while the run lasts.
    /// - Parameter planned: distinct notifications in all; 0 is unlimited.
    func progress(planned: Int) -> String {
        let given = tally.givenUp > 0 ? ", \(tally.givenUp) given up" : ""
        return
            "\(tally.notifications)\(planned > 0 ? " of \(planned)" : "") notifications sent, \(tally.accepted) accepted\(given)"
    }

    func tally(unfinished: Int, duration: Duration) -> Tally {
        var tally = tally
        if reportedPurchases > 0 { tally.expectedAccess = access.mapValues(\.periods) }
        tally.unfinished = unfinished
        tally.seconds = duration.milliseconds / 1000
        tally.perSecond = tally.seconds > 0 ? Double(tally.deliveries) / tally.seconds : 0
        tally.p50 = latencies.percentile(0.50)
        tally.p95 = latencies.percentile(0.95)
        tally.p99 = latencies.percentile(0.99)
        return tally
    }
}
