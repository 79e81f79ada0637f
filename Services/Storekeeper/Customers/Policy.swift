import ArgumentParser
import Commands
import Contracts
import Operations
import Storage
import Subscriptions

/// `storekeeper customers policy`: the policy of an app for shared Apple accounts.
struct Policy: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show or set the policy for shared Apple accounts.",
        discussion: """
            Stored in the database, then applied to all purchases of the app in portions, with progress; after an \
            interruption state-updater applies the rest. Restores that were decided before stay as they are. --dry-run \
            sets nothing, and counts the purchases and app transactions whose entitled account would change. A further account's upload does not \
            claim an Apple account that as many as --most-accounts claim with evidence as strong; claims that are stored stay. Without \
            --most-accounts the number stays as it is.

            Examples:
              storekeeper customers policy --app com.example.app
              storekeeper customers policy --app com.example.app --environment Production lastRestoreWins --dry-run
              storekeeper customers policy --app com.example.app allow --most-accounts 5
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Bundle id of the app.")
    var app: String

    @Option(help: "Environment of the App Store (default: both).")
    var environment: StoreEnvironment?

    @Argument(help: "New policy (default: show the present one).")
    var policy: SharingPolicy?

    @Flag(help: "Let only restores with a device mark move purchases (see POST /v1/restores).")
    var needsDevice = false

    @Option(
        help: """
            Number of accounts that may claim one Apple account, 1 to 1000 (default: as it is; \
            \(SharingPolicy.mostAccounts) at first).
            """)
    var mostAccounts: Int?

    @Flag(help: "Count what would change its entitled account; set nothing.")
    var dryRun = false

    func validate() throws {
        if dryRun, policy == nil { throw ValidationError("--dry-run needs the policy to try") }
        if needsDevice, policy == nil { throw ValidationError("--needs-device needs the policy to set") }
        guard let mostAccounts else { return }
        if policy == nil { throw ValidationError("--most-accounts needs the policy to set") }
        guard (1...1000).contains(mostAccounts) else { throw ValidationError("--most-accounts is 1 to 1000") }
    }

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "customers", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: app, in: context)
        let store = SharingStore(connection)
        var answers: [Answer] = []
        for environment in environment.map({ [$0] }) ?? [.production, .sandbox] {
            var answer = Answer(
                app: app, environment: environment.rawValue, policy: "", needsDevice: false,
                mostAccounts: SharingPolicy.mostAccounts, isDefault: false)
            if let policy, dryRun {
                let trial = try await store.trial(
                    of: policy, mostAccounts: mostAccounts, for: app, in: environment)
                answer.trial = Answer.Trial(
                    policy: policy.rawValue, moved: trial.moved.count, shared: trial.shared,
                    movedAppTransactions: trial.movedApps.count, sharedAppTransactions: trial.sharedApps,
                    examples: trial.moved.prefix(5).map(\.originalTransactionId))
            } else if let policy {
                let total = try await PolicyApplication(connection).count(
                    of: CoverageStore.App(environment, app))
                let display = ProgressDisplay()
                var progress = ProgressLine(noun: "purchases decided", total: total, done: 0, elapsed: .zero)
                let operation = SetPolicy(
                    policy, needsDevice: needsDevice, mostAccounts: mostAccounts, of: app, in: environment)
                try await operation.perform(on: connection, by: try audit.performer(in: context)) { portion in
                    progress.done = min(total, progress.done + portion.purchases)
                    if total > 1000 { display.show(progress, isLast: portion.purchases == 0) }
                }
            }
            let stored = try await store.rules()[CoverageStore.App(environment, app)]
            let rule = stored ?? SharingStore.Rule()
            (answer.policy, answer.needsDevice, answer.mostAccounts, answer.isDefault) = (
                rule.policy.rawValue, rule.needsDevice, rule.mostAccounts, stored == nil
            )
            answers.append(answer)
        }
        guard !output.json else { return try output.print(json: answers, in: context) }
        answers.map(\.text).forEach(context.print)
    }

    struct Answer: Encodable {
        struct Trial: Encodable {
            var policy: String
            var moved: Int
            var shared: Int
            var movedAppTransactions: Int
            var sharedAppTransactions: Int
            /// Some of the purchases that would change hands.
            var examples: [String]
        }

        var app: String
        var environment: String
        var policy: String
        var needsDevice: Bool
        var mostAccounts: Int
        var isDefault: Bool
        var trial: Trial?

        var text: String {
            let limit =
                mostAccounts == SharingPolicy.mostAccounts
                ? "" : ", at most \(mostAccounts) account\(mostAccounts == 1 ? "" : "s") on one Apple account"
            let now =
                "\(app.escaped) \(environment): \(policy)\(needsDevice ? ", restores need a device mark" : "")"
                + limit + (isDefault ? " (the default)" : "")
            guard let trial else { return now }
            let examples = trial.examples.isEmpty ? "" : ", such as \(trial.examples.joined(separator: ", "))"
            return
                "\(now); with \(trial.policy) \(trial.moved) of \(trial.shared) purchases and \(trial.movedAppTransactions) of "
                + "\(trial.sharedAppTransactions) app transactions on shared Apple accounts would change their entitled account"
                + examples
        }
    }
}

extension SharingPolicy: ExpressibleByArgument {}
