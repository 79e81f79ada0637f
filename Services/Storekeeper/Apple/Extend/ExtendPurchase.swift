import AppStore
import ArgumentParser
import Commands

import struct Foundation.Date

/// `storekeeper extend purchase`: extends one subscription.
struct ExtendPurchase: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "purchase", abstract: "Extend one subscription.",
        discussion: """
            Apple allows two extensions within 365 days, of up to 90 days each. With DATABASE_URL, the audit log records \
            the request. Exit codes: 0 extended; 1 rejected by Apple, with its reason.

            Example: storekeeper extend purchase 2000000123456789 --days 3 --reason satisfaction
            """)

    @OptionGroup var options: ExtensionOptions

    @Argument(help: "Original transaction id of the subscription.")
    var purchase: String

    func run(in context: CommandContext) async throws {
        let name = options.name(in: context)
        let request = ExtendRenewalDateRequest(
            extendByDays: options.days, extendReasonCode: options.reason.code, requestIdentifier: name)
        guard !options.dryRun else {
            return try options.say(
                "\(purchase.escaped) would be asked to be extended by \(options.days) days.",
                of: ExtensionRequest(
                    requestIdentifier: name, days: options.days, originalTransactionId: purchase, isDry: true),
                in: context)
        }
        let auditLog = try await options.auditLog(in: context)
        let answer = try await options.apple.withClient(in: context) { client in
            context.warn("Request identifier: \(name)")
            return try await client.extendRenewalDate(of: purchase, request)
        }
        guard answer.success == true else {
            throw CommandError("Apple did not extend \(purchase.escaped) and gave no reason")
        }
        if options.output.json {
            try options.output.print(json: Extended(answer, request: name), in: context)
        } else {
            let day = answer.effectiveDate?.text ?? "a later date"
            context.print("Extended; the subscription now renews on \(day).")
        }
        try await options.record("purchase \(purchase)", request: name, to: auditLog, in: context)
    }
}

/// An extended subscription as JSON, with Apple's names and times in UTC.
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
