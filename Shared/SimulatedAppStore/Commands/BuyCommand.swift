import ArgumentParser
import Foundation
import StrictJSON

/// `simulator buy`: a customer buys in a running simulator.
struct BuyCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "buy", abstract: "Buy a product for a customer of your own.",
        discussion: """
            The running simulator sends the notification of the purchase, and later those that time brings: renewals, in the \
            sandbox every few minutes, and the end. `simulator trigger` lets anything else happen. `simulator products` lists \
            what can be bought.

            Examples:
              simulator buy premium.monthly --account 7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b
              simulator buy premium.monthly --offer-code NEWSLETTER
              simulator buy com.example.app.coins.100 --environment Production --account 7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b

            Exit codes: 0 bought, and the receiver accepted the notification; 1 not; 64 invalid command line.
            """)

    @Argument(help: "Product id, or its end after the bundle id.")
    var product: String

    @Option(help: "The customer's appAccountToken, a UUID (default: the purchase names no account).")
    var account: String?

    @Option(help: "Bundle id of the app (default: the first that is simulated).")
    var app: String?

    @Option(help: "Production or Sandbox (default: the sandbox, where the app is in it).")
    var environment: String?

    @Flag(help: "The purchase is a family member's, and Apple shares it with this customer.")
    var familyShared = false

    @Option(help: "Promotional offer that your server signed, as for StoreKit 2.")
    var promotionalOffer: String?

    @Option(help: "Introductory eligibility that your server signed, as for StoreKit 2: a free week, or none.")
    var introductoryEligibility: String?

    @Option(help: "Offer code that the customer redeems: one period at half the price.")
    var offerCode: String?

    @Flag(help: "The customer ordered the app 30 days ago, before its release.")
    var preordered = false

    @Option(help: "Test account as developers report them: cannotCancel, or cannotRenew, whose renewals fail.")
    var sandboxAccount: String?

    @OptionGroup var options: ClientOptions

    func validate() throws {
        if let account, UUID(uuidString: account) == nil {
            throw ValidationError(
                "--account \(account) is no UUID, and Apple takes no other; `cat /proc/sys/kernel/random/uuid` prints one"
            )
        }
        if account != nil, familyShared {
            throw ValidationError("Apple names no account in what a family member shares: leave out --account")
        }
        if let environment { try SigningOptions.validate(environments: [environment]) }
    }

    func run(in context: CommandContext) async throws {
        let client = try options.client(in: context)
        let body = APIAnswer { json in
            json.member("productId", product)
            json.member("bundleId", app)
            json.member("environment", environment)
            json.member("appAccountToken", account)
            json.member("isFamilyShared", familyShared)
            json.member("promotionalOffer", promotionalOffer)
            json.member("introductoryEligibility", introductoryEligibility)
            json.member("offerCode", offerCode)
            json.member("hasPreordered", preordered)
            json.member("sandboxAccount", sandboxAccount)
        }.body
        let made = try await client.ask("POST", "purchases", body)
        try await options.report(made, to: client) { made in
            let end = ClientOptions.time(made["expiresDate"]).map { ", until \($0)" } ?? ""
            return "Bought \(made["productId"]?.string ?? "") in \(made["environment"]?.string ?? "")\(end)"
        }
    }
}
