import ArgumentParser
import Contracts
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

/// What all commands need that sign: whose hand it is and for which apps.
struct SigningOptions: ParsableArguments {
    @Option(help: "Directory of the signing authority; made on first use, root.pem is what a verifier must trust.")
    var authority: String

    @Option(help: "Address of the responder that a new authority names in its certificates; see `simulator ocsp`.")
    var ocspURL: String?

    @Option(
        help: """
            An app as BUNDLE-ID:APPLE-ID, in the environments of --environment, or as \
            BUNDLE-ID:APPLE-ID:Production,Sandbox, in its own; repeat for several.
            """,
        transform: SignedApp.init)
    var app: [SignedApp] = [SignedApp(bundleId: "com.example.app", appAppleId: 1_234_567_890)]

    @Option(help: "Production or Sandbox; repeat to mix them.")
    var environment: [String] = ["Sandbox"]

    @Option(
        help: "Sign with a renewed intermediate and leaf what is dated within so many days. Default: one chain for all."
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

    /// Every app in each of its environments.
    var apps: [App] {
        app.flatMap { app in
            (app.environments ?? environment.compactMap { StoreEnvironment(rawValue: $0) }).map {
                App(bundleId: app.bundleId, appAppleId: app.appAppleId, environment: $0)
            }
        }
    }

    /// The authority of the directory, made if there is none.
    func developmentAuthority(now: Date) throws -> DevelopmentAuthority {
        let directory = URL(fileURLWithPath: authority, isDirectory: true)
        return try DevelopmentAuthority.loadOrCreate(in: directory, now: now, ocspAddress: ocspURL)
    }

    /// Signs for the authority, and for an impostor made anew each time.
    func notificationSigner(now: Date) throws -> NotificationSigner {
        let authority = try developmentAuthority(now: now)
        let successor = try rotatedDays.map {
            (authority: try authority.renewed(now: now), from: now.adding(-$0 * 86_400))
        }
        return NotificationSigner(
            authority: authority, impostor: try DevelopmentAuthority(now: now), successor: successor)
    }
}

/// What a run does and how fast.
struct RunOptions: ParsableArguments {
    @Option(help: "How many distinct notifications to send, forged ones included; 0 sends until stopped.")
    var count = 0

    @Option(help: "Deliveries per second; 0 is as fast as possible.")
    var rate = 0.0

    @Option(help: "Deliveries underway at once.")
    var concurrency = 64

    @Option(help: "The same seed purchases the same purchases; with the same --now even the ids are the same.")
    var seed: UInt64 = 1

    @Option(help: "The simulated present, milliseconds since 1970, after which nothing is signed. Default: the clock.")
    var now: Int64?

    @Option(help: "How many times faster than real a production subscription purchases; sandbox keeps Apple's table.")
    var timeScale = 1.0

    @Option(help: "Minutes that a month takes in the sandbox: 5, 30 or 60; Apple's table gives the other periods.")
    var sandboxSpeed = TimeScale.SandboxSpeed.fiveMinutes.rawValue

    @Option(help: "Renewals after which the sandbox ends a subscription.")
    var sandboxRenewals = 12

    @Option(help: "Days of the billing grace period: 3, 16, 28, or 0 for none.")
    var gracePeriod = 16

    @Flag(inversion: .prefixedNo, help: "Have test accounts that cannot cancel or no longer renew in the sandbox.")
    var sandboxQuirks = true

    @Option(help: "Play one scenario and nothing else; see `simulator scenarios`.")
    var scenario: String?

    @Option(help: "How often to play --scenario.")
    var plays = 1

    @Option(help: #"File with a mix of scenarios, {"NAME": WEIGHT, …}; "anything" is a purchase that follows none."#)
    var mix: String?

    @Option(help: "Seconds by which Apple's clock is ahead of this one; negative is behind.")
    var clockSkew = 0.0

    @Option(help: "Subscriptions alive at once. Default: a tenth of --count, at least 10; 1000 if endless.")
    var subscriptions: Int?

    @Option(help: "Share of accepted notifications that are sent once more, 0 to 1.")
    var duplicates = 0.0

    @Option(help: "How many later notifications may overtake one.")
    var reorder = 0

    @Option(help: "Share of forged notifications, 0 to 1; the record says why each must be refused.")
    var tampered = 0.0

    @Option(help: "How many times faster than Apple to retry: at 3600 an hour lasts a second.")
    var retryScale = 3600.0

    @Flag(help: "Retry in sandbox too, which Apple does not.")
    var retrySandbox = false

    @Flag(help: "Do not retry after 4xx, as developers report of Apple since spring 2026.")
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
            hasSandboxQuirks: sandboxQuirks)
    }

    /// - Throws: ``Failure`` where the mix cannot be read.
    func plan(for apps: [App]) throws -> Plan {
        var mix = ScenarioMix.everything
        var count = count
        var size = subscriptions ?? (count == 0 ? 1000 : max(10, count / 10))
        if let scenario = scenario.flatMap(Scenario.named) {
            mix = .only(scenario)
            count = plays * scenario.steps.count
            // One after the other, each to its end.
            size = 1
        } else if let path = self.mix {
            guard let json = FileManager.default.contents(atPath: path) else {
                throw Failure("\(path) cannot be read: give a file with a mix of scenarios")
            }
            mix = try ScenarioMix(json: json)
        }
        // Who plays a story wants to know how it ends.
        let toldPurchases = scenario != nil || self.mix != nil ? 100 : 0
        return Plan(
            apps: apps, count: count, subscriptions: size, seed: seed, conditions: conditions, mix: mix,
            repeatedShare: duplicates, reorderWindow: reorder, invalidShare: tampered,
            retries: RetrySchedule(
                scale: retryScale, retriesSandbox: retrySandbox, retriesBadRequests: !noRetryBadRequest),
            concurrency: concurrency, rate: rate, toldPurchases: toldPurchases)
    }
}
