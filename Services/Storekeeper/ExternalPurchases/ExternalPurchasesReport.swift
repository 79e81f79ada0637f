import AppStore
import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import ServerAPI
import Storage
import StrictJSON

/// `storekeeper external-purchases report`: tells Apple what a token led to.
struct ExternalPurchasesReport: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Report an external purchase token to Apple.",
        discussion: """
            Without line items: NO_LINE_ITEM where nothing was bought by the token, UNRECOGNIZED_TOKEN where your records lack \
            it, DUPLICATE_TOKEN where another token of the period has the purchases. With --line-items the report has the \
            status LINE_ITEM, and the file holds Apple's array of line items. A report with faults is rejected as a whole: \
            send it again, corrected, with the same --request-id. Where Apple does not answer, show says whether it has the \
            report. What the audit log says of it is what list shows as reported. Exit codes: 0 Apple has it; 1 it has not, or \
            that is not known.

            Examples:
              storekeeper external-purchases report 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0 --status NO_LINE_ITEM --dry-run
              storekeeper external-purchases report 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0 --line-items items.json
            """)

    @OptionGroup var options: AppleChangeOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The externalPurchaseId of the token.")
    var token: String

    @Option(help: "NO_LINE_ITEM, UNRECOGNIZED_TOKEN or DUPLICATE_TOKEN.")
    var status: String?

    @Option(help: "JSON file with an array of Apple's line items.")
    var lineItems: String?

    @Option(help: "UUID of the report (default: a new one).", transform: UUIDArgument.read)
    var requestId: UUID?

    @Flag(help: "Print the report; send nothing.")
    var dryRun = false

    func validate() throws {
        guard (status == nil) != (lineItems == nil) else {
            throw ValidationError("give either --status or --line-items")
        }
        if let status, !["NO_LINE_ITEM", "UNRECOGNIZED_TOKEN", "DUPLICATE_TOKEN"].contains(status) {
            throw ValidationError(
                "--status \(status.escaped) is none of NO_LINE_ITEM, UNRECOGNIZED_TOKEN and DUPLICATE_TOKEN")
        }
        if let environment = options.apple.environment, environment != tokenEnvironment {
            throw ValidationError(
                "--environment \(environment.rawValue) does not fit the token: sandbox tokens begin with SANDBOX")
        }
    }

    /// The token tells.
    private var tokenEnvironment: StoreEnvironment { token.hasPrefix("SANDBOX") ? .sandbox : .production }

    func run(in context: CommandContext) async throws {
        let report = ExternalPurchaseReport(
            requestIdentifier: (requestId ?? context.id()).uuidString.lowercased(), externalPurchaseId: token,
            status: status.map { ExternalPurchaseReport.Status(rawValue: $0) } ?? .lineItem, lineItems: try items())
        if dryRun { return context.print(PrettyJSON(report.json)?.text ?? "") }
        var options = options
        options.apple.environment = tokenEnvironment
        // Printed before the request: without a response, only this identifier finds the report at Apple.
        context.warn("Request identifier: \(report.requestIdentifier ?? "")")
        _ = try await options.change(ExternalPurchaseTokens.reportOperation, token, in: context) {
            try await $0.sendExternalPurchaseReport(report)
        }
        guard !output.json else { return context.print(PrettyJSON(report.json)?.text ?? "") }
        context.print("Apple has report \(report.requestIdentifier ?? "") about token \(token.escaped).")
    }

    private func items() throws -> RawJSON? {
        guard let lineItems else { return nil }
        let bytes = try ArgumentFile.bytes(of: lineItems)
        guard let root = try? JSONDocument(bytes).root, root.kind == .array, !root.elements.isEmpty else {
            throw CommandError(
                "\(lineItems.escaped) is no JSON array of line items: see Apple's ExternalPurchaseReport")
        }
        return RawJSON(Array(root.rawBytes))
    }
}

/// `storekeeper external-purchases show`: a report as Apple has it.
struct ExternalPurchasesShow: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a report that Apple has.",
        discussion: """
            Exit codes: 0 found; 1 Apple has none of this identifier.

            Example: storekeeper external-purchases show 87e7d6d1-b98d-4a8f-b6a4-41ba992a6cad --app com.example.app
            """)

    @OptionGroup var apple: AppleOptions

    @Argument(help: "Request identifier of the report.", transform: UUIDArgument.read)
    var report: UUID

    func run(in context: CommandContext) async throws {
        let found = try await apple.withClient(in: context) {
            try await $0.externalPurchaseReport(report.uuidString.lowercased())
        }
        context.print(PrettyJSON(found.json)?.text ?? "")
    }
}
