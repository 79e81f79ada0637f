import Postgres
import Storage

/// Computes all figures again: the sums of days and months at once, and what each purchase adds to them by the scheduler.
package struct RebuildFigures: Sendable {
    package static let name = "insight rebuild"
    private static let subject = "all figures"

    package init() {}

    package func plan(on connection: PostgresConnection) async throws -> OperationPlan {
        let status = try await FigureStore(connection).status()
        let asOf = status.asOf.map { "The figures are as of \($0.text)." } ?? "The figures are not complete yet."
        return OperationPlan(
            Self.name, on: Self.subject, about: nil,
            [
                asOf, "The sums of all days and months would be added up again from what each purchase added to them.",
                "The scheduler would then compute every purchase again; figures that do not change stay as they are meanwhile.",
            ])
    }

    /// - Returns: number of purchases that the scheduler computes again.
    package func perform(on connection: PostgresConnection, by performer: Performer) async throws -> Int {
        try await FigureStore(connection).rebuild(audit: performer.action(Self.name, on: Self.subject))
    }
}
