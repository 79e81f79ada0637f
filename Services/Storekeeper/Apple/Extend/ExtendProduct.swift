import ArgumentParser
import Commands
import Operations
import ServerAPI
import Storage

/// `storekeeper extend product`: extends all active subscriptions of a product.
struct ExtendProduct: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "product", abstract: "Extend all active subscriptions of a product.",
        discussion: """
            Use it after an outage. Apple takes hours or days and sends a notification per subscription; the command \
            follows until Apple reports completion. Apple skips subscriptions that were extended twice within 365 days. \
            With DATABASE_URL, the audit log records the request.

            Exit codes: 0 complete, or accepted with --no-wait; 1 rejected by Apple; 130 interrupted: Apple continues, \
            and storekeeper extend status shows the progress.

            Example: storekeeper extend product pro.monthly --days 3 --reason outage --storefront DEU
            """)

    @OptionGroup var options: ExtensionOptions

    @Argument(help: "Product id.")
    var product: String

    @Option(
        name: .customLong("storefront"),
        help: "Storefront, three-letter country code such as DEU; repeatable.")
    var storefronts: [String] = []

    @Flag(help: "All storefronts.")
    var everywhere = false

    @Flag(help: "Exit once Apple has accepted the request.")
    var noWait = false

    func validate() throws {
        guard storefronts.isEmpty == everywhere else {
            throw ValidationError("no storefronts selected: give --storefront (repeatable) or --everywhere")
        }
        for storefront in storefronts where storefront.range(of: "^[A-Z]{3}$", options: .regularExpression) == nil {
            throw ValidationError("--storefront \(storefront.escaped) is not three capital letters, such as DEU")
        }
    }

    func run(in context: CommandContext) async throws {
        let name = options.name(in: context)
        let request = MassExtendRenewalDateRequest(
            extendByDays: options.days, extendReasonCode: options.reason.code, requestIdentifier: name,
            storefrontCountryCodes: everywhere ? nil : storefronts, productId: product)
        let place = everywhere ? "everywhere" : storefronts.joined(separator: " ")
        var asked = ExtensionRequest(
            requestIdentifier: name, days: options.days, productId: product,
            storefronts: everywhere ? nil : storefronts)
        guard !options.dryRun else {
            asked.isDry = true
            return try options.say(
                "All active subscriptions of \(product.escaped), \(place), would be asked to be extended by "
                    + "\(options.days) days.", of: asked, in: context)
        }
        let auditLog = try await options.auditLog(in: context)
        let performer = try options.audit.performer(in: context)
        try await options.apple.withClient(in: context) { [asked] client in
            func action(_ outcome: OperatorAction.Outcome) -> OperatorAction {
                performer.action(
                    "extend product", on: "product \(product), \(place), by \(options.days) days, request \(name)",
                    outcome: outcome, about: OperatorAction.About(client.storeEnvironment, client.app.bundleId))
            }
            try await options.record(action(.requested), to: auditLog)
            // Printed before the request: without a response, only this identifier finds it at Apple.
            context.warn("Request identifier: \(name)")
            do {
                _ = try await client.extendRenewalDates(request)
            } catch APIError.unsettled(let reason) {
                throw CommandError(
                    "unknown whether Apple accepted the request (\(reason)): check with storekeeper extend status "
                        + "\(product.escaped) \(name); do not repeat it with another --request-id")
            }
            try await options.record(action(.done), to: auditLog)
            guard !noWait else {
                return try options.say(
                    "Accepted; storekeeper extend status \(product.escaped) \(name) shows the progress.", of: asked,
                    in: context)
            }
            let course = ExtensionFollower(client: client, product: product, name: name)
            try await course.follow().show(options.output, in: context)
        }
    }
}
