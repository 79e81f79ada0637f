import Postgres
import Subscriptions

/// The rules by which offers of apps are signed.
package struct OfferRuleStore: VersionedDocumentStore {
    package typealias Document = OfferRules

    package let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    static let statements = [newest, insert]

    package static let newest = Statement.newestVersions("offer-rule-newest", of: "offer_rule")
    package static let insert = Statement.versionInsert("offer-rule-insert", into: "offer_rule")
}

extension DocumentVersion<OfferRules> {
    /// - Throws: where a newer build accepted what this one does not.
    package var rules: OfferRules {
        get throws(OfferRuleFaults) { try OfferRules(Array(document.utf8)) }
    }
}
