import ArgumentParser
import Commands

import ServerAPI
import struct Foundation.Date

/// `storekeeper extend status`: the progress of a product's extension.
struct ExtendStatus: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the progress of a product's extension.",
        discussion: """
            Exit codes: 0 found; 1 Apple does not know the request.

            Example: storekeeper extend status pro.monthly 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0 --wait
            """)

    @OptionGroup var apple: AppleOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "Product id.")
    var product: String

    @Argument(help: "Request identifier.")
    var name: String

    @Flag(help: "Repeat until the extension is complete.")
    var wait = false

    func run(in context: CommandContext) async throws {
        try await apple.withClient(in: context) { client in
            let course = ExtensionFollower(client: client, product: product, name: name)
            try await (wait ? course.follow() : course.look()).show(output, in: context)
        }
    }
}

/// Polls an extension until Apple reports completion.
struct ExtensionFollower: Sendable {
    /// Apple allows one request a second, and an extension takes hours.
    private static let pause: Duration = .seconds(10)

    let client: AppStoreServerAPI
    let product: String
    let name: String
    var display = ProgressDisplay()

    func look() async throws -> MassExtendRenewalDateStatusResponse {
        do {
            return try await client.massExtensionStatus(productId: product, requestIdentifier: name)
        } catch let error as APIError where error.code == .statusRequestNotFound {
            throw CommandError(
                "Apple knows no request \(name.escaped) for \(product.escaped): check both, or it was never accepted")
        }
    }

    func follow() async throws -> MassExtendRenewalDateStatusResponse {
        try await SignalHandler.cancellingOnSignal {
            while true {
                let status = try await look()
                let isComplete = status.complete == true
                display.show(isComplete ? "complete" : "in progress at Apple", isLast: isComplete)
                if isComplete { return status }
                try await Task.sleep(for: Self.pause)
            }
        }
    }
}

extension MassExtendRenewalDateStatusResponse {
    func show(_ output: OutputOptions, in context: CommandContext) throws {
        if output.json { return try output.print(json: ExtensionState(self), in: context) }
        guard complete == true else { return context.print("Not complete yet.") }
        context.print(
            "Complete since \(completeDate?.text ?? "an unknown time"): \(succeededCount ?? 0) extended, "
                + "\(failedCount ?? 0) failed.")
    }
}

/// The progress of a product's extension as JSON, with Apple's names and times in UTC.
struct ExtensionState: Encodable {
    var requestIdentifier: String?
    var complete: Bool?
    var completeDate: Date?
    var succeededCount: Int64?
    var failedCount: Int64?

    init(_ answer: MassExtendRenewalDateStatusResponse) {
        requestIdentifier = answer.requestIdentifier
        complete = answer.complete
        completeDate = answer.completeDate
        succeededCount = answer.succeededCount
        failedCount = answer.failedCount
    }
}
