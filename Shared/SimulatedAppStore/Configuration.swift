import ArgumentParser
import Contracts
import Development
import Foundation
import Signatures

/// An app of `--app`.
struct SignedApp: Sendable, Equatable {
    var bundleId: String
    var appAppleId: Int64
    /// Nil for those of `--environment`.
    var environments: [StoreEnvironment]?

    init(bundleId: String, appAppleId: Int64) {
        self.bundleId = bundleId
        self.appAppleId = appAppleId
    }

    init(_ text: String) throws {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard 2...3 ~= parts.count, !parts[0].isEmpty, let number = Int64(parts[1]), number > 0 else {
            throw ValidationError(
                "\(text) is not BUNDLE-ID:APPLE-ID[:ENVIRONMENTS], such as com.example.app:1234567890")
        }
        self.init(bundleId: parts[0], appAppleId: number)
        guard parts.count == 3 else { return }
        let names = parts[2].split(separator: ",").map(String.init)
        try SigningOptions.validate(environments: names)
        guard !names.isEmpty else { throw ValidationError("\(text) names no environment behind the second colon") }
        environments = names.compactMap { StoreEnvironment(rawValue: $0) }
    }
}

/// Certificate authority and apps of every command that signs.
struct SigningOptions: ParsableArguments {
    static let defaultApps = [SignedApp(bundleId: "com.example.app", appAppleId: 1_234_567_890)]

    @Option(help: "Directory of the certificate authority, created on first use; a verifier must trust its root.pem.")
    var authority: String

    @Option(help: "OCSP address in the certificates of a new authority; see `simulator ocsp`.")
    var ocspURL: String?

    @Option(
        help: """
            App as BUNDLE-ID:APPLE-ID, in the environments of --environment, or with its own as \
            BUNDLE-ID:APPLE-ID:Production,Sandbox; repeat for several. Default: com.example.app:1234567890, but with a \
            catalogue its apps alone.
            """,
        transform: SignedApp.init)
    var app: [SignedApp] = []

    @Option(
        help: "Production or Sandbox, of each --app that names none itself; repeat for both (default: Sandbox)."
    )
    var environment: [String] = []

    @Option(
        help: "Sign what is dated within so many days with a renewed intermediate and leaf. Default: one chain for all."
    )
    var rotatedDays: Double?

    func validate() throws {
        guard Set(app.map(\.bundleId)).count == app.count else {
            throw ValidationError("an app occurs twice in --app: give all of its environments at once")
        }
        try Self.validate(environments: environment)
    }

    static func validate(environments: [String]) throws {
        for name in environments where StoreEnvironment(rawValue: name) == nil {
            let names = StoreEnvironment.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--environment \(name) is none of \(names)")
        }
    }

    /// Those of --environment; nil without.
    private var named: [StoreEnvironment]? {
        environment.isEmpty ? nil : environment.compactMap { StoreEnvironment(rawValue: $0) }
    }

    /// Every app in each of its environments.
    var apps: [App] {
        (app.isEmpty ? Self.defaultApps : app).flatMap { app in
            (app.environments ?? named ?? [.sandbox]).map {
                App(bundleId: app.bundleId, appAppleId: app.appAppleId, environment: $0)
            }
        }
    }

    /// Those of --app and those of the catalogue; of the catalogue alone where no --app is given.
    /// - Throws: ``SimulatorError`` where --app and the catalogue say different things of an app.
    func apps(with catalogue: Catalogue) throws -> [App] {
        let own = catalogue.own.flatMap { app in
            app.environments.map { App(bundleId: app.bundleId, appAppleId: app.appAppleId, environment: $0) }
        }
        for app in app {
            guard let listed = catalogue.own.first(where: { $0.bundleId == app.bundleId }) else { continue }
            let environments = app.environments ?? named ?? listed.environments
            guard app.appAppleId == listed.appAppleId, Set(environments) == Set(listed.environments) else {
                throw SimulatorError(
                    "--app with --environment and the catalogue name \(app.bundleId) with different Apple IDs or environments: "
                        + "leave out the --app, since the catalogue says what is simulated of its apps")
            }
        }
        return app.isEmpty && !own.isEmpty ? own : apps.filter { !catalogue.isOwn($0) } + own
    }

    /// The authority of the directory, created if there is none.
    func developmentAuthority(now: Date) throws -> DevelopmentAuthority {
        let directory = URL(fileURLWithPath: authority, isDirectory: true)
        return try DevelopmentAuthority.loadOrCreate(in: directory, now: now, ocspAddress: ocspURL)
    }

    /// Signs for the authority, and for an impostor that each call creates.
    func notificationSigner(now: Date) throws -> NotificationSigner {
        let authority = try developmentAuthority(now: now)
        let successor = try rotatedDays.map {
            (authority: try authority.renewed(now: now), from: now.adding(-$0 * 86_400))
        }
        return NotificationSigner(
            authority: authority, impostor: try DevelopmentAuthority(now: now), successor: successor)
    }
}

/// What a run sends, and how fast.
struct RunOptions: ParsableArguments {
    @Option(help: "Number of distinct notifications, forged ones included; 0 is unlimited.")
    var count = 0

    @Option(help: "Deliveries per second; 0 is unlimited.")
    var rate = 0.0

    @Flag(help: "Sign everything before sending the first notification; needs --count or --scenario.")
    var presigned = false

    @Flag(
        inversion: .prefixedNo,
        help: "Random customers buy; without them only what is ordered by command or through the API is sent.")
    var randomPurchases = true

    @Option(help: "Maximum number of concurrent deliveries.")
    var concurrency = 64

    @Option(help: "Random seed; equal seeds produce equal runs, with equal --now down to the ids.")
    var seed: UInt64 = 1

    @Option(help: "Simulated present, milliseconds since 1970; nothing is signed later (default: the clock).")
    var now: Int64?

    @Option(help: "Factor by which time in Production runs faster; the sandbox has --sandbox-speed.")
    var timeScale = 1.0

    @Option(help: "Minutes per month in the sandbox: 5, 30 or 60; other periods follow Apple's table.")
    var sandboxSpeed = TimeScale.SandboxSpeed.fiveMinutes.rawValue

    @Option(help: "Number of renewals after which the sandbox ends a subscription, 0 to 12.")
    var sandboxRenewals = 12

    @Option(help: "Billing grace period in days: 3, 16, 28, or 0 for none.")
    var gracePeriod = 16

    @Flag(inversion: .prefixedNo, help: "Some sandbox accounts cannot cancel or no longer renew.")
    var sandboxQuirks = true

    @Option(help: "Name of the only scenario to play; see `simulator scenarios`.")
    var scenario: String?

    @Option(help: "Number of times to play --scenario.")
    var plays = 1

    @Option(help: #"File with weights of scenarios, {"NAME": WEIGHT, …}; "anything" is a purchase without a scenario."#)
    var mix: String?

    @Option(help: "Seconds that Apple's clock is ahead; negative is behind.")
    var clockSkew = 0.0

    @Option(help: "Number of concurrent purchases. Default: a tenth of --count, at least 10; 1000 if unlimited.")
    var subscriptions: Int?

    @Option(help: "Share of accepted notifications that are sent again, 0 to 1.")
    var duplicates = 0.0

    @Option(help: "Maximum number of later notifications that overtake one.")
    var reorder = 0

    @Option(help: "Share of forged notifications, 0 to 1; the run record has the reason to reject each.")
    var tampered = 0.0

    @Option(help: "Factor by which retries are faster than Apple's; 3600 makes an hour a second.")
    var retryScale = 3600.0

    @Option(
        help: """
            Let random customers ask for refunds now and not in the past, so that they can be answered, and divide the hours until \
            Apple asks again and decides by this; 600 decides within 5 minutes. Default: in the past.
            """)
    var refundScale: Double?

    @Flag(help: "Retry in the sandbox too, unlike Apple.")
    var retrySandbox = false

    @Flag(help: "Do not retry after 4xx, as developers report of Apple since 2026.")
    var noRetryBadRequest = false

    func validate() throws {
        var problems: [String] = []
        for (name, share) in [("--duplicates", duplicates), ("--tampered", tampered)]
        where !(0...1).contains(share) {
            problems.append("\(name) must lie between 0 and 1")
        }
        for (name, number) in [("--count", count), ("--reorder", reorder)] where number < 0 {
            problems.append("\(name) must not be negative")
        }
        if rate < 0 { problems.append("--rate must not be negative") }
        if concurrency < 1 { problems.append("--concurrency must be at least 1") }
        if let subscriptions, subscriptions < 1 { problems.append("--subscriptions must be at least 1") }
        if timeScale <= 0 { problems.append("--time-scale must be above 0") }
        if let refundScale, refundScale <= 0 { problems.append("--refund-scale must be above 0") }
        if retryScale <= 0 { problems.append("--retry-scale must be above 0") }
        if TimeScale.SandboxSpeed(rawValue: sandboxSpeed) == nil {
            problems.append("--sandbox-speed must be 5, 30 or 60")
        }
        if !(0...12).contains(sandboxRenewals) { problems.append("--sandbox-renewals must lie between 0 and 12") }
        if ![0, 3, 16, 28].contains(gracePeriod) { problems.append("--grace-period must be 0, 3, 16 or 28") }
        if let scenario, Scenario.named(scenario) == nil {
            problems.append("--scenario \(scenario) is none of those that `simulator scenarios` lists")
        }
        if scenario != nil, mix != nil || count > 0 {
            problems.append("--scenario goes with --plays, not with --mix or --count")
        }
        if presigned, count == 0, scenario == nil {
            problems.append(
                "--presigned needs --count or --scenario: a run without end cannot be signed before it begins")
        }
        if !randomPurchases, count > 0 || scenario != nil || mix != nil || presigned {
            problems.append("--no-random-purchases goes without --count, --scenario, --mix and --presigned")
        }
        if plays < 1 { problems.append("--plays must be at least 1") }
        if !problems.isEmpty { throw ValidationError(problems.joined(separator: "; ")) }
    }

    /// The simulated present: Apple's clock may differ from this one by --clock-skew.
    func present(on clock: @escaping @Sendable () -> Date) -> @Sendable () -> Date {
        let (fixed, skew) = (now.map { Date(milliseconds: $0) }, clockSkew)
        return { fixed ?? clock().addingTimeInterval(skew) }
    }

    /// What a purchase may do, and how fast.
    var conditions: Conditions {
        Conditions(
            timeScale: timeScale, sandboxSpeed: TimeScale.SandboxSpeed(rawValue: sandboxSpeed) ?? .fiveMinutes,
            sandboxRenewals: sandboxRenewals, graceDays: gracePeriod == 0 ? nil : gracePeriod,
            hasSandboxQuirks: sandboxQuirks, refundScale: refundScale)
    }

    /// - Throws: ``SimulatorError`` where the mix cannot be read.
    func plan(for apps: [App]) throws -> Plan {
        var mix = ScenarioMix.everything
        var count = count
        var size = subscriptions ?? (count == 0 ? 1000 : max(10, count / 10))
        if let scenario = scenario.flatMap(Scenario.named) {
            mix = .only(scenario)
            count = plays * scenario.steps.count
            // One play after the other, each to its end.
            size = 1
        } else if let path = self.mix {
            guard let json = FileManager.default.contents(atPath: path) else {
                throw SimulatorError("\(path) cannot be read: give a file with a mix of scenarios")
            }
            mix = try ScenarioMix(json: json)
        }
        // Plays are compared with their expected access, so the summary has it.
        let reportedPurchases = scenario != nil || self.mix != nil ? 100 : 0
        var plan = Plan(
            apps: apps, count: count, subscriptions: size, seed: seed, conditions: conditions, mix: mix,
            repeatedShare: duplicates, reorderWindow: reorder, invalidShare: tampered,
            retries: RetrySchedule(
                scale: retryScale, retriesSandbox: retrySandbox, retriesBadRequests: !noRetryBadRequest),
            concurrency: concurrency, rate: rate, reportedPurchases: reportedPurchases)
        plan.isPresigned = presigned
        plan.hasRandomPurchases = randomPurchases
        return plan
    }
}
