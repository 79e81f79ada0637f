import AppStore
import ArgumentParser
import Contracts
import Foundation
import Interpretation
import Pipeline
import Records
import SimulatedAppStore

/// Notifications per second through what the verifier's stage does with genuine ones, from the value of the record to the
/// encoded verified message, compared with `openssl speed` for the curve: a notification has three signatures. And how many
/// the simulator makes and signs.
@main
struct VerifierBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "verifier-benchmark")

    @Option(help: "Number of rounds; each measures everything once.")
    var rounds = 5
    @Option(help: "Duration of a measurement, seconds.")
    var seconds = 2.0
    @Option(help: "Notifications per batch.")
    var batch = 500

    @Option(help: "Python with the package app-store-server-library, to measure Apple's own library, too.")
    var applePython: String?

    func run() async throws {
        let samples = try SignedSamples(count: batch)
        let cores = ProcessInfo.processInfo.activeProcessorCount
        var measured: [(String, (Double) async throws -> Double)] = [
            ("openssl speed ecdsap256, 1 core, divided by 3", { try Self.curve(seconds: $0) / 3 }),
            ("verifier stage, 1 core", { try await samples.rate(cores: 1, seconds: $0) }),
            ("verifier stage, \(cores) cores", { try await samples.rate(cores: cores, seconds: $0) }),
            ("verifier stage, 1 core, nothing proven before", { try await samples.coldRate(seconds: $0) }),
            ("simulator, 1 core", { try await samples.simulatorRate(seconds: $0) }),
        ]
        if let applePython {
            let files = try samples.written()
            measured.append(
                ("Apple's Python library, 1 core", { try Self.apple(applePython, files, seconds: $0) }))
        }
        var rates = [[Double]](repeating: [], count: measured.count)
        for round in 1...rounds {
            FileHandle.standardError.write(Data("round \(round) of \(rounds)\n".utf8))
            for (index, (_, measure)) in measured.enumerated() { rates[index].append(try await measure(seconds)) }
        }
        let medians = rates.map { $0.sorted()[$0.count / 2] }
        print("\(samples.bytes / samples.count) bytes a notification, median of \(rounds) rounds of \(seconds) s")
        print("notifications/s    ratio  ms each  what")
        for (median, (name, _)) in zip(medians, measured) {
            print(String(format: "%15.0f %8.2f %8.3f  ", median, median / medians[0], 1000 / median) + name)
        }
    }

    /// Verifications per second by OpenSSL's own measure.
    private static func curve(seconds: Double) throws -> Double {
        let output = try Self.output(
            of: ["openssl", "speed", "-mr", "-seconds", String(max(1, Int(seconds))), "ecdsap256"])
        // +F4:<number>:<bits>:<signatures a second>:<verifications a second>, as OpenSSL 3 prints it
        guard let line = output.split(separator: "\n").last(where: { $0.hasPrefix("+F4:") }),
            let rate = line.split(separator: ":").last.flatMap({ Double($0) }), rate > 1
        else { throw ValidationError("openssl speed printed no rate: \(output)") }
        return rate
    }

    /// Notifications per second by Apple's library.
    private static func apple(_ python: String, _ files: [String], seconds: Double) throws -> Double {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../apple_rate.py").path
        let output = try output(of: [python, script, String(seconds)] + files)
        guard let rate = Double(output.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw ValidationError("apple_rate.py printed no rate: \(output)")
        }
        return rate
    }

    private static func output(of command: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        // Threads of the pool block signals and a child inherits that; openssl times itself by SIGALRM.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return output
    }
}

/// Genuine notifications of many subscriptions, as the records that ingest writes.
struct SignedSamples {
    private let records: [WireRecord]
    private let notifications: GenuineNotifications
    private let now: Date

    var count: Int { records.count }
    var bytes: Int { records.reduce(0) { $0 + $1.value.count } }

    init(count: Int) throws {
        let now = Date()
        var notifications = try GenuineNotifications(purchases: count, now: now)
        records = try (0..<count).map { _ in
            ReceivedNotification(
                signedPayload: try notifications.nextOfSubscription(), source: .webhook, receivedAt: now
            ).record()
        }
        self.notifications = notifications
        self.now = now
    }

    /// The root in DER and the payloads, one per line, as files.
    func written() throws -> [String] {
        let directory = FileManager.default.temporaryDirectory.appending(path: "verifier-benchmark")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let root = directory.appending(path: "root.der")
        try Data(notifications.authority.root).write(to: root)
        let samples = directory.appending(path: "samples")
        try Data(records.map(\.value).joined(separator: [UInt8(ascii: "\n")])).write(to: samples)
        return [root.path, samples.path]
    }

    /// Notifications per second with the certificates proven before, as in production.
    func rate(cores: Int, seconds: Double) async throws -> Double {
        let verifier = try notifications.verifier()
        return try await perSecond(seconds) { try await process(records, by: verifier, cores: cores) }
    }

    /// Notifications per second where each has a new verifier.
    func coldRate(seconds: Double) async throws -> Double {
        var next = 0
        return try await perSecond(seconds) {
            let one = [records[next % count]]
            next += 1
            return try await process(one, by: try notifications.verifier(), cores: 1)
        }
    }

    /// Notifications per second that the simulator makes and signs, on one core.
    func simulatorRate(seconds: Double) async throws -> Double {
        var notifications = notifications
        return try await perSecond(seconds) {
            _ = try notifications.next()
            return 1
        }
    }

    /// As a worker does it around the stage: only what the stage does is shared by the cores.
    private func process(_ records: [WireRecord], by verifier: SignedDataVerifier, cores: Int) async throws -> Int {
        let received = try records.map { try ReceivedNotification($0) }
        let verified = await received.concurrentMap(cores: cores) { [now] received in
            (try? verifier.notification(received.signedPayload, now: now).get())
                .flatMap { VerifiedNotification(.notification($0), received) }
        }
        let written = verified.compactMap { $0?.record() }
        guard written.count == records.count else { throw ValidationError("a genuine notification was rejected") }
        return written.count
    }

    private func perSecond(_ seconds: Double, _ work: () async throws -> Int) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        var done = 0
        var elapsed = Duration.zero
        while elapsed < .seconds(seconds) {
            done += try await work()
            elapsed = start.duration(to: clock.now)
        }
        return Double(done) / (elapsed / .seconds(1))
    }
}
