import AppStore
import ArgumentParser

import struct Foundation.Date

/// `storekeeper extend purchase`: more days for one subscriber.
struct ExtendPurchase: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "purchase", abstract: "Give one subscriber more days.",
        discussion: """
            Apple allows it twice within 365 days, for up to 90 days each. With a database to write to, the trail keeps \
            who did it and why. Exits 1 where Apple refuses, with Apple's reason.
            """)

    @OptionGroup var options: ExtensionOptions

    @Argument(help: "The subscription's original transaction id.")
    var purchase: String

    func run(in context: CommandContext) async throws {
        let name = options.name(in: context)
        let request = ExtendRenewalDateRequest(
            extendByDays: options.days, extendReasonCode: options.reason.code, requestIdentifier: name)
        guard !options.dryRun else {
            return try options.say(
                "Apple would be asked to give \(purchase.escaped) \(options.days) days.",
                of: ExtensionRequest(
                    requestIdentifier: name, days: options.days, originalTransactionId: purchase, isDry: true),
                in: context)
        }
        let auditLog = try await options.auditLog(in: context)
        let answer = try await options.apple.withClient(in: context) { client in
            context.warn("The name of this request is \(name).")
            return try await client.extendRenewalDate(of: purchase, request)
        }
        guard answer.success == true else { throw CommandError("Apple did not extend it, and says no more than that") }
        if options.output.json {
            try options.output.print(json: Extended(answer, request: name), in: context)
        } else {
            let day = answer.effectiveDate?.text ?? "a later date"
            context.print("Extended; the subscription now renews on \(day).")
        }
        try await options.record("purchase \(purchase)", request: name, to: auditLog, in: context)
    }
}

/// A subscription that was extended, for programs: Apple's names, our times.
struct Extended: Encodable {
    var requestIdentifier: String
    var originalTransactionId: String?
    var webOrderLineItemId: String?
    var effectiveDate: Date?
    var success: Bool?

    init(_ answer: ExtendRenewalDateResponse, request: String) {
        requestIdentifier = request
        originalTransactionId = answer.originalTransactionId
        webOrderLineItemId = answer.webOrderLineItemId
        effectiveDate = answer.effectiveDate
        success = answer.success
    }
}
