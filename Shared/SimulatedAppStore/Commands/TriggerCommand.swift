import ArgumentParser
import Foundation
import StrictJSON

/// `simulator trigger`: lets one of Apple's events happen to a purchase in a running simulator.
struct TriggerCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "trigger", abstract: "Let one of Apple's events happen to a purchase.",
        discussion: """
            The purchase changes as it would at Apple, and the notification is sent: an event that cannot follow is refused, with \
            those that can. What Apple sends at the end of a period (EXPIRED, DID_FAIL_TO_RENEW) ends the period now; DID_RENEW \
            charges the next one early. DID_RENEW BILLING_RECOVERY moves the clock of the sandbox to a minute after the purchase, \
            and is refused in production before a day has passed: no renewal is dated earlier.

            Examples:
              simulator trigger DID_FAIL_TO_RENEW GRACE_PERIOD --purchase 2000000012345678
              simulator trigger DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED --purchase 2000000012345678
              simulator trigger DID_CHANGE_RENEWAL_PREF UPGRADE --purchase 2000000012345678 --product studio.monthly
              simulator trigger OFFER_REDEEMED --purchase 2000000012345678 --offer-code NEWSLETTER
              simulator trigger REFUND --purchase 2000000012345678

            Exit codes: 0 it happened, and the receiver accepted the notification; 1 not; 64 invalid command line.
            """)

    @Argument(help: "Apple's notificationType.")
    var type: String

    @Argument(help: "Apple's subtype (default: the first that can follow).")
    var subtype: String?

    @Option(help: "Purchase: the originalTransactionId, or the id of one of its transactions.")
    var purchase: String?

    @Option(help: "The newest purchase of this appAccountToken, in place of --purchase.")
    var account: String?

    @Option(help: "Product that the customer changes to, or subscribes to again.")
    var product: String?

    @Option(help: "Offer code that the customer redeems (default of OFFER_REDEEMED: a promotional offer).")
    var offerCode: String?

    @OptionGroup var options: ClientOptions

    func validate() throws {
        // It becomes a part of a path.
        if let purchase, !APICall.isTransactionId(purchase) {
            throw ValidationError("--purchase \(purchase) is no transaction id: those of Apple are digits")
        }
        if let account, UUID(uuidString: account) == nil {
            throw ValidationError("--account \(account) is no UUID; `simulator purchases` shows the accounts")
        }
        guard (purchase == nil) != (account == nil) else {
            throw ValidationError("name the purchase by --purchase or by --account; `simulator purchases` lists all")
        }
    }

    func run(in context: CommandContext) async throws {
        let client = try options.client(in: context)
        let purchase = if let purchase { purchase } else { try await newest(client) }
        let body = APIAnswer { json in
            json.member("notificationType", type)
            json.member("subtype", subtype)
            json.member("productId", product)
            json.member("offerCode", offerCode)
        }.body
        let made = try await client.ask("POST", "purchases/\(purchase)/events", body)
        try await options.report(made, to: client) { made in
            let end = ClientOptions.time(made["expiresDate"]).map { ", paid until \($0)" } ?? ""
            return "Happened: \(made["productId"]?.string ?? "")\(end)"
        }
    }

    /// The newest purchase of the account.
    private func newest(_ client: SimulatorClient) async throws -> String {
        let all = try await client.ask("GET", "purchases").root["purchases"]?.elements ?? []
        let account = account?.lowercased() ?? ""
        guard
            let id = all.last(where: { $0["appAccountToken"]?.string == account })?["originalTransactionId"]?.string
        else {
            throw SimulatorError(
                "no purchase names the account \(account); `simulator buy --account \(account) PRODUCT` makes one, and "
                    + "`simulator purchases` lists those that exist")
        }
        return id
    }
}
