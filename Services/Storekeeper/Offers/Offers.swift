import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper offers`: the rules by which promotional offers are signed, and what was signed.
struct OffersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offers", abstract: "Set the rules for promotional offers; list what was signed.",
        discussion: """
            The API signs a promotional offer for whom a rule of the app allows it, and none without a rule.

            Examples:
              storekeeper offers rules set rules.json --app com.example.app --environment Production --dry-run
              storekeeper offers signed --app com.example.app --environment Production
            """,
        subcommands: [OffersRulesCommand.self, OffersSigned.self, OffersRedeemed.self])
}

/// `storekeeper offers rules`: the rules of an app.
struct OffersRulesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules", abstract: "Show or set the rules for the offers of an app.",
        discussion: "Example: storekeeper offers rules show --app com.example.app --versions",
        subcommands: [OffersRulesShow.self, OffersRulesSet.self])
}

/// `storekeeper offers rules show`
struct OffersRulesShow: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the rules in force, or their versions.",
        discussion: """
            Prints the document as it was set, for a file.

            Example: storekeeper offers rules show --app com.example.app
            """)

    @OptionGroup var options: AppOptions

    @Flag(help: "List the versions, with who added each.")
    var versions = false

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "offers", in: context)
        try await options.show(
            OfferRuleStore(connection), versions: versions, none: "The app has no rules.",
            missing:
                "\(options.app.escaped) has no offer rules in \(options.environment.rawValue), so no offer of it is signed: "
                + "storekeeper offers rules set", in: context)
    }
}

/// `storekeeper offers rules set`
struct OffersRulesSet: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Add a version of the rules; they hold at once.",
        discussion: """
            The file has all rules of the app: an offer that it leaves out is not signed any more.

            Example: storekeeper offers rules set rules.json --app com.example.app --dry-run
            """)

    @OptionGroup var options: AppOptions
    @OptionGroup var audit: AuditOptions
    @OptionGroup var rules: JSONDocumentFile

    @Flag(help: "Print what the rules would change; set nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        let operation = try SetOfferRules(try rules.read(), of: options.app, in: options.environment)
        let connection = try options.database.connection(for: "offers", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: options.app, in: context)
        guard !dryRun else {
            return try await operation.plan(on: connection).show(options.output, in: context)
        }
        let number = try await operation.perform(on: connection, by: try audit.performer(in: context))
        try options.show(added: number, in: context)
    }
}

/// `storekeeper offers signed`
struct OffersSigned: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "signed", abstract: "List the promotional offers that were signed, newest first.",
        discussion: """
            An offer is redeemed by the first transaction of the account with it since.

            Example: storekeeper offers signed --app com.example.app --account 7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b
            """)

    @OptionGroup var options: AppOptions

    @Option(help: "Only those of this account, by its appAccountToken.")
    var account: String?

    @OptionGroup var limit: LimitOptions

    func validate() throws {
        if let account, UUID(uuidString: account) == nil {
            throw ValidationError("--account is not an appAccountToken, a UUID: \(account.escaped)")
        }
    }

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "offers", in: context)
        let signatures = try await OfferSignatureStore(connection).newest(
            limit.limit, in: CoverageStore.App(options.environment, options.app),
            account: account.flatMap { UUID(uuidString: $0) })
        try options.output.list(signatures.map(Row.init), none: "No offer was signed.", in: context)
    }

    private struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "signed", "account", "product", "offer", "rules", "key", "redeemed by", "nonce",
        ]
        var signedAt: Date
        var account: String?
        var product: String
        var offer: String
        var ruleVersion: Int64?
        var key: String
        var transaction: String?
        var redeemedBy: String?
        var nonce: String

        init(_ signature: OfferSignatureStore.Signature) {
            signedAt = signature.signedAt
            account = signature.account?.uuidString.lowercased()
            product = signature.productId
            offer = signature.offerIdentifier
            ruleVersion = signature.ruleVersion
            key = signature.keyId
            transaction = signature.transactionId
            redeemedBy = signature.redeemedBy
            nonce = signature.nonce.uuidString.lowercased()
        }

        var cells: [String] {
            [
                signedAt.text, account ?? "-", product, offer, ruleVersion.map { "\($0)" } ?? "-", key,
                redeemedBy ?? "-",
                nonce,
            ]
        }
    }
}

/// `storekeeper offers redeemed`
struct OffersRedeemed: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "redeemed", abstract: "Show how many signatures of each offer were redeemed.",
        discussion: """
            Counts the newest \(OfferSignatureStore.counted) signatures of the app.

            Example: storekeeper offers redeemed --app com.example.app --environment Production
            """)

    @OptionGroup var options: AppOptions

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "offers", in: context)
        let redemptions = try await OfferSignatureStore(connection).redemptions(
            in: CoverageStore.App(options.environment, options.app))
        try options.output.list(redemptions.map(Row.init), none: "No offer was signed.", in: context)
    }

    private struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "product", "offer", .number("signed"), .number("redeemed"), .number("rate"),
        ]
        private enum CodingKeys: String, CodingKey { case product, offer, signed, redeemed }
        var product: String
        var offer: String
        var signed: Int64
        var redeemed: Int64
        private let rate: String

        init(_ redemptions: OfferSignatureStore.Redemptions) {
            product = redemptions.productId
            offer = redemptions.offerIdentifier
            signed = redemptions.signed
            redeemed = redemptions.redeemed
            rate = redemptions.rate
        }

        var cells: [String] { [product, offer, "\(signed)", "\(redeemed)", rate] }
    }
}
