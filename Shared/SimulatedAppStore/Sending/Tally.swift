import Foundation

/// The summary of a run.
struct Tally: Sendable, Codable, Equatable {
    /// Distinct notifications made, forgeries included.
    var notifications = 0
    var forgeries = 0
    /// Finished deliveries.
    var deliveries = 0
    var retries = 0
    var repetitions = 0
    /// Notifications that were accepted.
    var accepted = 0
    /// Notifications whose retries are exhausted.
    var givenUp = 0
    /// Notifications whose retry was still due when the run was stopped.
    var unfinished = 0
    /// By HTTP status or kind of failure.
    var answers: [String: Int] = [:]
    /// Transactions that simulated apps uploaded, by HTTP status or kind of failure.
    var uploads: [String: Int] = [:]
    var seconds = 0.0
    var perSecond = 0.0
    /// From request to answer, milliseconds, over all deliveries that were answered.
    var p50 = 0.0
    var p95 = 0.0
    var p99 = 0.0

    /// By purchase, the access that a receiver should have computed; nil where it is not reported.
    var expectedAccess: [String: [String]]?

    /// One line of text.
    var sentence: String {
        let codes = Self.list(answers)
        let uploaded = uploads.isEmpty ? "" : "; uploads \(Self.list(uploads))"
        return """
            \(notifications) notifications (\(forgeries) forged), \(deliveries) deliveries (\(retries) retries, \
            \(repetitions) repetitions) in \(seconds.rounded(to: 1)) s = \(perSecond.rounded(to: 0))/s; \
            answers \(codes.isEmpty ? "none" : codes); accepted \(accepted), given up \(givenUp), \
            unfinished \(unfinished)\(uploaded); p50 \(p50.rounded(to: 1)) ms, p95 \(p95.rounded(to: 1)) ms, \
            p99 \(p99.rounded(to: 1)) ms
            """
    }
}

extension Tally {
    private static func list(_ counts: [String: Int]) -> String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }

    /// One line of JSON.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

extension Double {
    fileprivate func rounded(to digits: Int) -> String {
        let factor = digits == 0 ? 1.0 : 10.0
        let value = (self * factor).rounded() / factor
        return digits == 0 ? String(Int64(value)) : String(value)
    }
}
