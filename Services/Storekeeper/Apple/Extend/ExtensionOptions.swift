import AppStore
import ArgumentParser
import Foundation
import Storage

/// What both kinds of extension are told, and the trail that keeps who asked for them.
struct ExtensionOptions: ParsableArguments {
    /// Why, in words for Apple's numbers.
    enum Reason: String, CaseIterable, ExpressibleByArgument {
        case undeclared
        case satisfaction
        case other
        case outage

        var code: ExtendReasonCode {
            switch self {
            case .undeclared: .undeclared
            case .satisfaction: .customerSatisfaction
            case .other: .other
            case .outage: .serviceIssueOrOutage
            }
        }
    }

    @OptionGroup var apple: AppleOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var hand: HandOptions

    @Option(help: "How many days, 1 to 90.")
    var days: Int64

    @Option(help: "Why, for Apple.")
    var reason: Reason

    @Option(help: "Our name of this request, the same if it is repeated. Default: a new one.")
    var requestId: String?

    func validate() throws {
        guard (1...90).contains(days) else { throw ValidationError("--days must lie between 1 and 90") }
    }

    /// The name that was given, or a new one.
    func name(in surroundings: Surroundings) -> String { requestId ?? surroundings.id().uuidString.lowercased() }

    /// Keeps that it was done, if there is a database to write to.
    /// - Parameter subject: who was given days.
    func record(_ subject: String, in surroundings: Surroundings) async throws {
        guard database.isGiven(in: surroundings) else { return }
        let connection = try database.connection(for: "extend", in: surroundings)
        try await hand.record(
            "extend", on: ["\(subject) by \(days) days"], to: OperatorActionStore(connection), in: surroundings)
    }
}
