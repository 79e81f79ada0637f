import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// A customer by the developer's own id.
struct CustomerOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Bundle id of the app.")
    var app: String

    @Option(help: "Environment of the App Store.")
    var environment: StoreEnvironment

    @Argument(help: "Your own id of the customer; where no customer has it, the appAccountToken.")
    var customer: String

    func validate() throws {
        guard (1...255).contains(customer.utf8.count) else {
            throw ValidationError("the customer's id must have 1 to 255 bytes")
        }
    }

    /// - Throws: `CommandError` where the customer is unknown.
    func found(_ records: CustomerRecords) async throws -> CustomerRecords.Customer {
        guard let found = try await records.find(customer, of: app, in: environment) else {
            throw CommandError(
                "no customer \(customer.escaped) of \(app.escaped) is known in \(environment.rawValue): add the customer with "
                    + "storekeeper customers add")
        }
        return found
    }

    /// The account of the customer. A token without a customer is the account itself.
    /// - Throws: `CommandError` where the text is neither.
    func account(_ records: CustomerRecords) async throws -> UUID {
        if let known = try await records.find(customer, of: app, in: environment) { return known.appAccountToken }
        guard let token = UUID(uuidString: customer) else { return try await found(records).appAccountToken }
        return token
    }

    var subject: String { "\(environment.rawValue) \(app) \(customer)" }
}

/// `storekeeper customers show`: the token and the grants of a customer.
struct ShowCustomer: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the appAccountToken and the grants of a customer.",
        discussion: """
            Pass the token to storekeeper entitlements to see what the customer may use.

            Example: storekeeper customers show user-4711 --app com.example.app --environment Production
            """)

    @OptionGroup var options: CustomerOptions

    func run(in context: CommandContext) async throws {
        let records = CustomerRecords(try options.database.connection(for: "customers", in: context))
        let customer = try await options.found(records)
        let grants = try await records.grants(
            of: customer.appAccountToken, of: customer.bundleId, in: customer.environment)
        let page = CustomerPage(customer, grants)
        guard !options.output.json else { return try options.output.print(json: page, in: context) }
        FactLines.of([
            ("customer", customer.id), ("app", customer.bundleId), ("environment", customer.environment.rawValue),
            ("token", page.appAccountToken), ("created", customer.createdAt.text),
        ]).forEach(context.print)
        context.print("")
        try options.output.list(page.grants, none: "No grants.", in: context)
    }
}

/// `storekeeper customers add`: makes a customer known.
struct AddCustomer: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a customer by your own id, with a new or a given appAccountToken.",
        discussion: """
            Prints the token, which the app gives StoreKit with every purchase. A customer who exists keeps the stored \
            token. Exit codes: 0 added, or known already; 1 the customer has another token, or the token another customer.

            Example: storekeeper customers add user-4711 --app com.example.app --environment Production
            """)

    @OptionGroup var options: CustomerOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "appAccountToken, a UUID (default: a new one).")
    var token: String?

    func validate() throws {
        if let token, UUID(uuidString: token) == nil { throw ValidationError("--token \(token.escaped) is not a UUID") }
    }

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "customers", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: options.app, in: context)
        let given = token.flatMap { UUID(uuidString: $0) }
        let outcome = try await CustomerRecords(connection).put(
            CustomerRecords.Customer(
                id: options.customer, environment: options.environment, bundleId: options.app,
                appAccountToken: given ?? context.id(), createdAt: context.now()), isTokenGiven: given != nil)
        switch outcome {
        case .conflict:
            throw CommandError(
                "customer \(options.customer.escaped) has another token, or this token belongs to another customer: see "
                    + "storekeeper customers show, and remove the wrong one")
        case .created(let customer), .known(let customer):
            if case .created = outcome {
                try await audit.record(
                    "customers add", on: [options.subject], about: OperatorAction.About(customer),
                    to: OperatorActionStore(connection), in: context)
            }
            guard !options.output.json else {
                return try options.output.print(json: CustomerPage(customer, []), in: context)
            }
            context.print(customer.appAccountToken.uuidString.lowercased())
        }
    }
}

/// `storekeeper customers remove`: deletes the id, not the token.
struct RemoveCustomer: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a customer's own id; purchases keep their appAccountToken.",
        discussion: """
            Purchases, grants and consents (to send Apple consumption data) of the token stay with the token.

            Example: storekeeper customers remove user-4711 --app com.example.app --environment Production
            """)

    @OptionGroup var options: CustomerOptions
    @OptionGroup var audit: AuditOptions

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "customers", in: context)
        let records = CustomerRecords(connection)
        let customer = try await options.found(records)
        _ = try await records.remove(customer.id, of: customer.bundleId, in: customer.environment)
        try await audit.record(
            "customers remove", on: [options.subject], about: OperatorAction.About(customer),
            to: OperatorActionStore(connection), in: context)
        let page = CustomerPage(customer, [])
        guard !options.output.json else { return try options.output.print(json: page, in: context) }
        context.print("Removed; the token was \(page.appAccountToken).")
    }
}

/// A customer with the access given by hand.
struct CustomerPage: Encodable {
    var customerId: String
    var bundleId: String
    var environment: String
    var appAccountToken: String
    var createdAt: Date
    var grants: [GrantRow]

    init(_ customer: CustomerRecords.Customer, _ grants: [CustomerRecords.ManualGrant]) {
        customerId = customer.id
        bundleId = customer.bundleId
        environment = customer.environment.rawValue
        appAccountToken = customer.appAccountToken.uuidString.lowercased()
        createdAt = customer.createdAt
        self.grants = grants.map(GrantRow.init)
    }
}
