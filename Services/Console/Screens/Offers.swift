import Contracts
import Operations
import Storage
import Subscriptions

/// Offers of an app: the rules in force, how often what was signed was redeemed, and the newest signatures.
struct OfferScreen: Sendable {
    struct Rule: Sendable {
        let product: String
        let offer: String
        let who: String
        let limit: String
        let time: String
        let excluded: String
    }

    struct Redemption: Sendable {
        let product: String
        let offer: String
        let signed: String
        let redeemed: String
        let rate: String
    }

    struct Signature: Sendable {
        let signed: Moment
        let account: String?
        let address: String?
        let product: String
        let offer: String
        let rules: String
        let redeemedBy: String
    }

    struct Page: Sendable {
        let choices: [Scope.Choice]
        let hasChoices: Bool
        let version: String
        let rules: [Rule]
        let redemptions: [Redemption]
        let counted: String
        let signatures: [Signature]
        let limit: Int
        let commands: [String]
    }

    private static let limit = 100

    let console: Console

    /// `GET /offers`
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (now, masking) = (console.clock.now(), request.masking)
        let (scope, version, redemptions, signatures) = try await console.database.withConnection { connection in
            let scope = Scope(try await ConsolePages(connection).apps(), request)
            guard let app = scope.app else {
                return (
                    scope, OfferRuleStore.Version?.none, [OfferSignatureStore.Redemptions](),
                    [OfferSignatureStore.Signature]()
                )
            }
            let store = OfferSignatureStore(connection)
            return (
                scope, try await OfferRuleStore(connection).inForce(app.bundleId, in: app.environment),
                try await store.redemptions(in: app), try await store.newest(Self.limit, in: app)
            )
        }
        let rules = version.flatMap { try? $0.rules }
        return console.page(
            "offers", "Offers",
            Page(
                choices: scope.choices, hasChoices: scope.choices.count > 1,
                version: version.map { Self.sentence($0, isRead: rules != nil) }
                    ?? "The app has no rules, so no offer of it is signed.",
                rules: rules?.rules.map(Self.rule) ?? [],
                redemptions: redemptions.map { found in
                    Redemption(
                        product: found.productId, offer: found.offerIdentifier, signed: Figures.grouped(found.signed),
                        redeemed: Figures.grouped(found.redeemed), rate: found.rate)
                }, counted: Figures.grouped(Int64(OfferSignatureStore.counted)),
                signatures: signatures.map { made in
                    Signature(
                        signed: Moment(made.signedAt, now: now),
                        account: masking.id(made.account?.uuidString.lowercased()),
                        address: scope.app.flatMap { masking.account(made.account, in: $0.environment) },
                        product: made.productId, offer: made.offerIdentifier,
                        rules: made.ruleVersion.map { "\($0)" } ?? "none",
                        redeemedBy: masking.id(made.redeemedBy) ?? "")
                }, limit: Self.limit,
                commands: scope.app.map { Self.commands($0, hasRules: version != nil) } ?? []), request)
    }

    private static func sentence(_ version: OfferRuleStore.Version, isRead: Bool) -> String {
        "Version \(version.number) of \(version.createdAt.text), by \(version.createdBy)."
            + (isRead ? "" : " A newer version of Storekeeper set it; to see its rules, update the console.")
    }

    private static func rule(_ rule: OfferRule) -> Rule {
        let group = rule.subscriptionGroupIdentifier.map { " in group \($0)" } ?? ""
        let lapsed = rule.lapsedDays > 0 ? ", lapsed for \(rule.lapsedDays) days" : ""
        return Rule(
            product: rule.productId, offer: rule.offerIdentifier,
            who: rule.who.map(\.rawValue).sorted().joined(separator: " or ") + lapsed + group,
            limit: "\(rule.atMost.count) in \(Int(rule.atMost.days).counted("day"))",
            time: [rule.from.map { "from \($0.text)" }, rule.until.map { "until \($0.text)" }].compactMap(\.self)
                .joined(separator: " "),
            excluded: rule.noRefundDays.map { "a refund within \(Int($0).counted("day"))" } ?? "")
    }

    private static func commands(_ app: CoverageStore.App, hasRules: Bool) -> [String] {
        (["redeemed", "signed"] + (hasRules ? ["rules show"] : [])).map { command in
            "storekeeper offers \(command) --app \(shellWord(app.bundleId)) --environment \(app.environment.rawValue)"
        }
    }
}
