import Contracts
import Postgres
import Storage
import Subscriptions

/// Adds a version of the rules by which the offers of an app are signed.
package struct SetOfferRules: Sendable {
    package static let name = "offers rules set"

    package let document: String
    package let rules: OfferRules
    package let bundleId: String
    package let environment: StoreEnvironment

    /// - Throws: `OperationError` with all that is wrong with the document.
    package init(
        _ document: String, of bundleId: String, in environment: StoreEnvironment
    ) throws(OperationError) {
        do throws(OfferRuleFaults) { rules = try OfferRules(Array(document.utf8)) } catch {
            throw OperationError("the rules are not accepted:\n\(error)", .invalid("rules"))
        }
        guard !bundleId.isEmpty else {
            throw OperationError("the bundle id of the app is missing", .invalid("bundleId"))
        }
        self.document = document
        self.bundleId = bundleId
        self.environment = environment
    }

    private var subject: String { "\(environment.rawValue) \(bundleId)" }
    private var about: OperatorAction.About { OperatorAction.About(environment, bundleId) }

    package func plan(on connection: PostgresConnection) async throws -> OperationPlan {
        let before = try await OfferRuleStore(connection).inForce(bundleId, in: environment)
        var effects = [
            before?.replacement ?? "\(bundleId) in \(environment.rawValue) would get its first rules."
        ]
        func names(_ rules: [OfferRule]) -> Set<String> {
            Set(rules.map { "\($0.offerIdentifier) of \($0.productId)" })
        }
        let (new, old) = (names(rules.rules), names((try? before?.rules)?.rules ?? []))
        effects += new.subtracting(old).sorted().map { "The offer \($0) would be signed by rule." }
        effects += old.subtracting(new).sorted().map { "The offer \($0) would have no rule any more." }
        return OperationPlan(Self.name, on: subject, about: about, effects, isEffective: before?.document != document)
    }

    /// - Returns: the number of the version.
    package func perform(on connection: PostgresConnection, by performer: Performer) async throws -> Int64 {
        try await OfferRuleStore(connection).add(
            document, to: bundleId, in: environment, by: performer.name, at: performer.now,
            audit: performer.action(Self.name, on: subject, about: about))
    }
}
