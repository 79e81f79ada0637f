import Storage

extension ApplyOutcome {
    /// Nil where the batch was fenced.
    var applied: Applied? { if case .applied(let applied) = self { applied } else { nil } }
}
