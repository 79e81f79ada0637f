import AppStore
import ArgumentParser

/// `storekeeper extend product`: more days for all active subscribers of a product.
struct ExtendProduct: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "product", abstract: "Give all active subscribers of a product more days.",
        discussion: """
            For after an outage. Apple takes hours or days for it and tells of each subscriber in a notification; this \
            follows until Apple says that it is complete. Whoever was given days twice within 365 days gets none. With a \
            database to write to, the trail keeps who did it and why.

            Exit codes: 0 complete, or taken up with --no-wait; 1 Apple refuses; 130 interrupted, which stops the looking \
            and not the work: storekeeper extend status goes on looking.
            """)

    @OptionGroup var options: ExtensionOptions

    @Argument(help: "The product id.")
    var product: String

    @Option(
        name: .customLong("storefront"),
        help: "Only there, by the country's three letters such as DEU; repeat for several.")
    var storefronts: [String] = []

    @Flag(help: "In all countries.")
    var everywhere = false

    @Flag(help: "Do not wait until it is complete.")
    var noWait = false

    func validate() throws {
        guard storefronts.isEmpty == everywhere else {
            throw ValidationError("say where: --storefront once or several times, or --everywhere")
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
                "Apple would be asked to give all active subscribers of \(product.escaped), \(place), "
                    + "\(options.days) days.", of: asked, in: context)
        }
        let auditLog = try await options.auditLog(in: context)
        try await options.apple.withClient(in: context) { [asked] client in
            // Known before Apple is asked: without an answer it is the only way to learn what became of it.
            context.warn("The name of this request is \(name).")
            do {
                _ = try await client.extendRenewalDates(request)
            } catch APIError.unsettled(let reason) {
                throw CommandError(
                    "nobody knows whether Apple took it up (\(reason)): ask with storekeeper extend status "
                        + "\(product.escaped) \(name), and do not ask for it again under another name")
            }
            try await options.record("product \(product), \(place),", request: name, to: auditLog, in: context)
            guard !noWait else {
                return try options.say(
                    "Taken up; storekeeper extend status \(product.escaped) \(name) tells how far it is.", of: asked,
                    in: context)
            }
            let course = ExtensionFollower(client: client, product: product, name: name)
            try await course.follow().show(options.output, in: context)
        }
    }
}
