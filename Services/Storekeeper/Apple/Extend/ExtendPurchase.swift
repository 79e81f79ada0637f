import ArgumentParser
import Commands
import Operations
import ServerAPI

import struct Foundation.Date

/// `storekeeper extend purchase`: extends one subscription.
struct ExtendPurchase: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "purchase", abstract: "Extend one subscription.",
        discussion: """
            Apple allows two extensions within 365 days, of up to 90 days each. With DATABASE_URL, the audit log records \
            the request before Apple is asked, and its outcome. Exit codes: 0 extended; 1 rejected by Apple, with its reason.

            Example: storekeeper extend purchase 2000000123456789 --days 3 --reason satisfaction
            """)

    @OptionGroup var options: ExtensionOptions

    @Argument(help: "Original transaction id of the subscription.")
    var purchase: String

    func run(in context: CommandContext) async throws {
        let name = options.name(in: context)
        guard !options.dryRun else {
            let operation = try ExtendRenewal(
                purchase, of: options.apple.app ?? "", in: options.apple.environment ?? .production, by: options.days,
                for: options.reason, requestIdentifier: name)
            return try options.say(
                operation.plan.effects.joined(separator: " ").escaped,
                of: ExtensionRequest(
                    requestIdentifier: name, days: options.days, originalTransactionId: purchase, isDry: true),
                in: context)
        }
        let auditLog = try await options.auditLog(in: context)
        let performer = try options.audit.performer(in: context)
        let answer = try await options.apple.withClient(in: context) { client in
            context.warn("Request identifier: \(name)")
            return try await ExtendRenewal(
                purchase, of: client.app.bundleId, in: client.storeEnvironment, by: options.days, for: options.reason,
                requestIdentifier: name
            ).perform(at: client, by: performer, recording: { try await options.record($0, to: auditLog) }) { throw $0 }
        }
        guard !options.output.json else {
            return try options.output.print(json: Extended(answer, request: name), in: context)
        }
        context.print("Extended; the subscription now renews on \(answer.effectiveDate?.text ?? "a later date").")
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
