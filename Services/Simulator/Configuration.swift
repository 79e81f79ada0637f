import ArgumentParser
import Contracts
import Foundation
import Signatures

/// What all commands need that sign: whose hand it is and for which apps.
struct SigningOptions: ParsableArguments {
    @Option(help: "Directory of the signing authority; made on first use, root.pem is what a verifier must trust.")
    var authority: String

    @Option(help: "Address of the responder that a new authority names in its certificates; see `simulator ocsp`.")
    var ocspURL: String?

    @Option(help: "Bundle id of the app; repeat for several, with as many --app-apple-id.")
    var bundleId: [String] = ["com.example.app"]

    @Option(help: "Apple's number of the app.")
    var appAppleId: [Int64] = [1_234_567_890]

    @Option(help: "Production or Sandbox; repeat to mix them.")
    var environment: [String] = ["Sandbox"]

    func validate() throws {
        guard bundleId.count == appAppleId.count else {
            throw ValidationError("there must be as many --app-apple-id as --bundle-id")
        }
        for name in environment where StoreEnvironment(rawValue: name) == nil {
            let names = StoreEnvironment.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--environment \(name) is none of \(names)")
        }
    }

    /// Every app in every environment.
    var apps: [App] {
        zip(bundleId, appAppleId).flatMap { bundleId, appAppleId in
            environment.compactMap { StoreEnvironment(rawValue: $0) }.map {
                App(bundleId: bundleId, appAppleId: appAppleId, environment: $0)
            }
        }
    }

    /// The authority of the directory, made if there is none.
    func developmentAuthority(now: Date) throws -> DevelopmentAuthority {
        let directory = URL(fileURLWithPath: authority, isDirectory: true)
        return try DevelopmentAuthority.loadOrCreate(in: directory, now: now, ocspAddress: ocspURL)
    }

    /// The hand that signs, and an impostor's, made anew each time.
    func notificationSigner(now: Date) throws -> NotificationSigner {
        NotificationSigner(
            authority: try developmentAuthority(now: now),
            impostor: try DevelopmentAuthority(now: now))
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
        if !problems.isEmpty { throw ValidationError(problems.joined(separator: "; ")) }
    }

    func plan(for apps: [App]) -> Plan {
        Plan(
            apps: apps, count: count, subscriptions: subscriptions ?? (count == 0 ? 1000 : max(10, count / 10)),
            seed: seed, timeScale: timeScale, repeatedShare: duplicates, reorderWindow: reorder, invalidShare: tampered,
            retries: RetrySchedule(
                scale: retryScale, retriesSandbox: retrySandbox, retriesBadRequests: !noRetryBadRequest),
            concurrency: concurrency, rate: rate)
    }
}
