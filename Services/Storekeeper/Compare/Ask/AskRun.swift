import Commands
import Foundation
import Operations

/// Asks about customers, a few at a time, and keeps what is answered.
struct AskRun: Sendable {
    /// The results of this run's questions.
    struct Counts: Sendable, Equatable {
        var asked = 0
        /// Customers whom the other system does not have.
        var unknown: [String] = []
        /// Customers who could not be asked about, with the reason.
        var failed: [String: String] = [:]
    }

    /// So many questions are under way at once, so that the limit is reached although each answer takes its time.
    private static let parallel = 4
    /// So many customers in a row without an answer mean that the system has a problem, not the customers.
    private static let failuresInRow = 5

    let client: OtherSystemClient
    let progress: AskProgress
    /// The original ids of transactions that are known here.
    let originals: @Sendable ([String]) async throws -> [String: String]

    /// - Parameters:
    ///   - ids: customers who are left.
    ///   - total: including those of earlier runs.
    /// - Throws: what affects all customers: the key is refused, no answer, the progress cannot be written.
    func run(_ ids: [String], of total: Int) async throws -> Counts {
        let display = ProgressDisplay()
        var shown = ProgressLine(
            noun: "customers", total: total, done: total - ids.count, doneBefore: total - ids.count, elapsed: .zero)
        var counts = Counts()
        var failuresInRow = 0
        try await withThrowingTaskGroup(of: (String, OtherSystemClient.Answer).self) { group in
            var waiting = ids.makeIterator()
            for _ in 0..<Self.parallel {
                if let id = waiting.next() { group.addTask { (id, try await client.ask(about: id)) } }
            }
            while let (id, answer) = try await group.next() {
                if let id = waiting.next() { group.addTask { (id, try await client.ask(about: id)) } }
                counts.asked += 1
                if case .failed = answer { failuresInRow += 1 } else { failuresInRow = 0 }
                switch answer {
                case .known(let bytes):
                    do { try await keep(bytes, about: id) } catch let fault as AnswerFault {
                        counts.failed[id] = fault.text
                    }
                case .unknown:
                    try progress.note(id, [])
                    counts.unknown.append(id)
                case .refused(let reason): counts.failed[id] = reason
                case .failed(let reason):
                    counts.failed[id] = reason
                    guard failuresInRow < Self.failuresInRow else {
                        throw CommandError("\(reason), about \(failuresInRow) customers in a row: ask later")
                    }
                }
                shown.done += 1
                display.show(shown, isLast: shown.done == total)
            }
        }
        return counts
    }

    private func keep(_ answer: [UInt8], about customer: String) async throws {
        var records = try client.system.records(of: answer, about: customer, since: progress.began)
        let known = try await originals(records.compactMap(\.transactionId))
        for index in records.indices {
            guard let id = records[index].transactionId, let original = known[id] else { continue }
            records[index].fields[RevenueCatCustomer.original] = original
        }
        try progress.note(customer, records)
    }
}
