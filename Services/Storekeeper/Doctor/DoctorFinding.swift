import Foundation

/// What one check found.
struct DoctorFinding: Encodable, Sendable, Equatable {
    enum Outcome: String, Encodable, Sendable {
        case ok, warning, failed
        case notChecked = "not checked"
    }

    var outcome: Outcome
    /// What was checked.
    var subject: String
    var detail: String
    /// What to do; nil where nothing is.
    var advice: String?

    var lines: [String] {
        let word = outcome.rawValue.padding(toLength: 12, withPad: " ", startingAt: 0)
        return ["\(word)\(subject.escaped): \(detail.escaped)"]
            + (advice.map { ["\(String(repeating: " ", count: 12))→ \($0.escaped)"] } ?? [])
    }

    static func ok(_ subject: String, _ detail: String) -> Self { Self(outcome: .ok, subject: subject, detail: detail) }

    static func failed(_ subject: String, _ detail: String, _ advice: String) -> Self {
        Self(outcome: .failed, subject: subject, detail: detail, advice: advice)
    }

    static func warning(_ subject: String, _ detail: String, _ advice: String) -> Self {
        Self(outcome: .warning, subject: subject, detail: detail, advice: advice)
    }

    static func notChecked(_ subject: String, _ detail: String) -> Self {
        Self(outcome: .notChecked, subject: subject, detail: detail)
    }
}
