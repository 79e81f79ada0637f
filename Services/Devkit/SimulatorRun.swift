import Foundation

/// The simulator of a development run.
struct SimulatorRun: Sendable {
    /// Options of `simulator run`.
    struct Options: Sendable {
        var count = 0
        var rate = 0.0
        var seed: UInt64 = 1
        var subscriptions: Int?
        var duplicates = 0.0
        var reorder = 0
        var tampered = 0.0
        /// Whether everything is signed before the first delivery.
        var isPresigned = false
        /// Whether to retry in the sandbox, too, which Apple does not.
        var retriesSandbox = true
        /// Divisor of Apple's retry intervals.
        var retryScale: Double?
        /// Divides Apple's hours of refund requests, which are then made now and not in the past; nil leaves them there.
        var refundScale: Double?
        /// Factor for Apple's API rate limits.
        var apiLimitScale = 1.0
        /// The developer's own apps and products; nil without.
        var catalogue: String?
        /// API keys beside the plan's.
        var furtherKeys: [APIKeyFile] = []
    }

    var options: Options
    var target: String
    /// Nil for a broker that keeps everything.
    var paceURL: String?
    var plan: ProcessPlan

    /// File of the run record.
    var recordFile: String { plan.directory + "/record.jsonl" }
    /// File of its summary, a JSON object.
    var summary: String { plan.directory + "/simulator-summary.json" }

    var control: SimulatorControl { SimulatorControl(address: plan.apiAddress) }

    /// Starts it with an empty run record; a kept directory may contain an earlier one.
    func start(with spawner: Spawner) async throws -> ChildProcess {
        for file in [recordFile, summary] where FileManager.default.fileExists(atPath: file) {
            try FileManager.default.removeItem(atPath: file)
        }
        return try await spawner.start(
            "simulator", program: try plan.binaries.path(of: "simulator"), arguments: arguments,
            environment: plan.inherited, log: plan.log(of: "simulator"), output: summary)
    }

    var arguments: [String] {
        var arguments = [
            "run", "--target", target, "--authority", plan.authority, "--record", recordFile, "--json",
            "--count", "\(options.count)", "--rate", "\(options.rate)", "--seed", "\(options.seed)",
            "--duplicates", "\(options.duplicates)", "--reorder", "\(options.reorder)",
            "--tampered", "\(options.tampered)",
            "--api-address", "127.0.0.1:\(plan.apiPort)",
            "--api-limit-scale", "\(options.apiLimitScale)", "--clock-file", plan.clockFile,
        ]
        for key in [plan.apiKey] + options.furtherKeys {
            for option in key.options(for: plan.apps) { arguments += ["--api-key", option] }
        }
        if options.isPresigned { arguments.append("--presigned") }
        if options.retriesSandbox { arguments.append("--retry-sandbox") }
        if let scale = options.refundScale { arguments += ["--refund-scale", "\(scale)"] }
        if let scale = options.retryScale { arguments += ["--retry-scale", "\(scale)"] }
        if let subscriptions = options.subscriptions { arguments += ["--subscriptions", "\(subscriptions)"] }
        // A partition of the development broker holds about 170 of the larger records; this is 47 of them.
        if let paceURL { arguments += ["--pace-url", paceURL, "--max-waiting", "3000"] }
        if let catalogue = options.catalogue { arguments += ["--catalogue", catalogue] }
        for app in plan.apps {
            let environments = app.environments.map(\.rawValue).joined(separator: ",")
            arguments += ["--app", "\(app.bundleId):\(app.appAppleId):\(environments)"]
        }
        return arguments
    }
}
