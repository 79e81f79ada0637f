import AppStore
import ArgumentParser

import struct Foundation.Date

/// `storekeeper extend status`: how far Apple is with a product's subscribers.
struct ExtendStatus: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show how far Apple is with extending a product's subscribers.",
        discussion: "Exits 1 where Apple knows no such request.")

    @OptionGroup var apple: AppleOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The product id.")
    var product: String

    @Argument(help: "The name of the request.")
    var name: String

    @Flag(help: "Look again and again until it is complete.")
    var wait = false

    func run(in context: CommandContext) async throws {
        try await apple.withClient(in: context) { client in
            let course = ExtensionFollower(client: client, product: product, name: name)
            try await (wait ? course.follow() : course.look()).show(output, in: context)
        }
    }
}

/// Looks at an extension of all until Apple says that it is complete.
struct ExtensionFollower: Sendable {
    /// Apple allows one question a second, and the work takes hours.
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
                "Apple knows no request \(name.escaped) for \(product.escaped): mistyped, or never taken up")
        }
    }

    func follow() async throws -> MassExtendRenewalDateStatusResponse {
        try await SignalHandler.cancellingOnSignal {
            while true {
                let status = try await look()
                let isComplete = status.complete == true
                display.show(isComplete ? "complete" : "Apple is at it", isLast: isComplete)
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
            "Complete since \(completeDate?.text ?? "a time Apple does not say"): \(succeededCount ?? 0) extended, "
                + "\(failedCount ?? 0) not.")
    }
}

/// How far a mass extension is, for programs: Apple's names, our times.
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
