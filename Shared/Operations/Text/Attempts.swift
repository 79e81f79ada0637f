import ServerAPI
import Storage

extension RecordedAttempt {
    /// What an operator checks after it; nil after a success.
    package var remedy: String? { SendAttemptResult(rawValue: result).remedy }
}

extension SendAttemptStore.Bar {
    /// What an operator checks after attempts with this result; nil after a success.
    package var remedy: String? { SendAttemptResult(rawValue: result).remedy }
}

extension LedgerLine {
    /// How late it was delivered, and what to check; nil where it was in time.
    /// - Parameter attempts: Apple's, as far as they are known: the scheduler reads them within the day.
    package func lateness(after attempts: [RecordedAttempt]) -> String? {
        guard isLate else { return nil }
        let why =
            attempts.last { $0.remedy != nil }.map { "\($0.result): \($0.remedy ?? "")" }
            ?? "storekeeper notifications history shows Apple's attempts and what to check"
        return "by \(TimeSpan.age(deliverySeconds ?? 0)): an earlier attempt of Apple's failed; \(why)"
    }
}
