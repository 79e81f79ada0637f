import AppStore
import ArgumentParser
import Contracts
import Development
import Foundation
import Pipeline
import Records
import Signatures

/// Notifications per second through the verifier's stage, from the value of the record to the encoded verified message,
/// compared with `openssl speed` for the curve: a notification has three signatures. And the simulator's signing.
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
            ("simulator signing, 1 core", { try await samples.signingRate(seconds: $0) }),
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
    let batch: Batch
    let authority: DevelopmentAuthority
    private let signer: NotificationSigner
    private let events: [EventPayload]
    private let now: Date

    var count: Int { batch.records.count }
    var bytes: Int { batch.records.reduce(0) { $0 + $1.wire.value.count } }

    init(count: Int) throws {
        let now = Date()
        let authority = try DevelopmentAuthority(now: now)
        let signer = NotificationSigner(authority: authority, impostor: authority)
        let app = App(bundleId: "com.example.app", appAppleId: 1_234_567_890, environment: .production)
        var population = Population(apps: [app], size: count, seed: 1, now: now)
        var records: [Batch.Record] = []
        var events: [EventPayload] = []
        while records.count < count {
            let event = population.next(now: now)
            guard event.renewal != nil, event.object == .data else { continue }
            events.append(event)
            let received = ReceivedNotification(
                signedPayload: try signer.sign(event), source: .webhook, receivedAt: now)
            records.append(
                Batch.Record(
                    wire: received.record(),
                    position: LogPosition(topic: Topics.received.name, partition: 0, offset: Int64(records.count)),
                    timestamp: now))
        }
        batch = Batch(records: records)
        self.authority = authority
        self.signer = signer
        self.events = events
        self.now = now
    }

    /// The root in DER and the payloads, one per line, as files.
    func written() throws -> [String] {
        let directory = FileManager.default.temporaryDirectory.appending(path: "verifier-benchmark")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let root = directory.appending(path: "root.der")
        try Data(authority.root).write(to: root)
        let samples = directory.appending(path: "samples")
        try Data(batch.records.map(\.wire.value).joined(separator: [UInt8(ascii: "\n")])).write(to: samples)
        return [root.path, samples.path]
    }

    /// Notifications per second with the certificates proven before, as in production.
    func rate(cores: Int, seconds: Double) async throws -> Double {
        let verifier = try verifier()
        return try await perSecond(seconds) { try await process(batch, by: verifier, cores: cores) }
    }

    /// Notifications per second where each has a new verifier.
    func coldRate(seconds: Double) async throws -> Double {
        var next = 0
        return try await perSecond(seconds) {
            let one = Batch(records: [batch.records[next % count]])
            next += 1
            return try await process(one, by: try verifier(), cores: 1)
        }
    }

    /// Notifications per second that the simulator builds and signs, with three signatures each, on one core.
    func signingRate(seconds: Double) async throws -> Double {
        try await perSecond(seconds) {
            for event in events { _ = try signer.write(PendingNotification(event: event)) }
            return events.count
        }
    }

    private func verifier() throws -> SignedDataVerifier {
        SignedDataVerifier(
            trust: try TrustStore.apple.adding(rootsIn: Array(authority.rootPEM.utf8)),
            apps: AppRegistry(apps: [AcceptedApp(bundleId: "com.example.app", appAppleId: 1_234_567_890)]))
    }

    private func process(_ batch: Batch, by verifier: SignedDataVerifier, cores: Int) async throws -> Int {
        let stage = Verify(verifier: { verifier }, now: { now }, cores: cores)
        let forwarded = try await batch.processed(by: stage).forwarded.map { $0.output.record() }
        guard forwarded.count == batch.records.count else {
            throw ValidationError("a genuine notification was rejected")
        }
        return forwarded.count
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
