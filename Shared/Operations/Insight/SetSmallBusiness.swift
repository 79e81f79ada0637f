import Postgres
import Storage

/// Tells from when the developer of an app is in Apple's App Store Small Business Program, or not any more.
package struct SetSmallBusiness: Sendable {
    package static let name = "insight small-business set"

    private let membership: ProceedsTermsStore.Membership

    /// - Parameter since: the first day, such as `2026-01-01`.
    /// - Throws: `OperationError` where it is no day.
    package init(_ isMember: Bool, of bundleId: String, since: String) throws(OperationError) {
        membership = ProceedsTermsStore.Membership(
            bundleId: bundleId, firstDay: try FigureQuestion.day(since, "since"), isMember: isMember)
    }

    private var subject: String {
        "\(membership.bundleId) since \(FigureQuestion.text(membership.firstDay)): \(membership.isMember ? "member" : "no member")"
    }

    package func plan() -> OperationPlan {
        let percent = membership.isMember ? "15 %" : "30 %, and 15 % after a year of paid service,"
        return OperationPlan(
            Self.name, on: subject, about: nil,
            [
                "From \(FigureQuestion.text(membership.firstDay)) on, \(percent) of the price without tax would count as Apple's commission."
            ])
    }

    package func perform(on connection: PostgresConnection, by performer: Performer) async throws {
        try await ProceedsTermsStore(connection).set(
            membership, at: performer.now, audit: performer.action(Self.name, on: subject))
    }
}
