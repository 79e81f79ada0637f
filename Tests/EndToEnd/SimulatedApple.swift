import AsyncHTTPClient
import Commands
import Contracts
import Foundation
import Postgres
import TestSupport

@testable import Devkit

/// A simulated App Store that sends to a line through a receiver with a fault, and answers questions.
struct SimulatedApple: Sendable {
    let services: DevelopmentEnvironment.RunningServices
    let receiver: DroppingReceiver
    let run: SimulatorRun
    let ledger: LedgerReader

    var control: SimulatorControl { run.control }

    /// Lends one that sends its notifications while the body works, and is ended afterwards.
    static func use(
        _ services: DevelopmentEnvironment.RunningServices, count: Int, droppingOneIn oneIn: Int,
        _ body: @escaping @Sendable (SimulatedApple) async throws -> Void
    ) async throws {
        guard let ingest = await services.processes.target else { throw CommandError("no ingest runs") }
        let receiver = DroppingReceiver(before: ingest, droppingOneIn: oneIn)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            let (targets, target) = AsyncStream.makeStream(of: String.self)
            group.addTask {
                try await receiver.run { target.yield($0) }
                return false
            }
            group.addTask {
                guard let target = await targets.first(where: { _ in true }) else { throw CancellationError() }
                var options = SimulatorRun.Options(
                    count: count, rate: 25, seed: 21, subscriptions: 40, duplicates: 0.05, reorder: 5, tampered: 0.02)
                // As Apple does: what the sandbox misses comes from the history or not at all.
                options.retriesSandbox = false
                options.retryScale = 36_000
                let nextKey = Self.nextKey(services)
                try FileManager.default.createDirectory(atPath: nextKey.directory, withIntermediateDirectories: true)
                try nextKey.write(for: services.processes.plan.apps)
                options.furtherKeys = [nextKey]
                let run = SimulatorRun(options: options, target: target, paceURL: nil, plan: services.processes.plan)
                let simulator = try await run.start(with: services.spawner)
                let apple = SimulatedApple(
                    services: services, receiver: receiver, run: run, ledger: EndToEnd.ledger(of: services))
                let result: Result<Void, any Error>
                do { result = .success(try await body(apple)) } catch { result = .failure(error) }
                await simulator.stop(deadline: .seconds(10))
                try result.get()
                return true
            }
            for try await isDone in group where isDone { break }
            group.cancelAll()
        }
    }

    func record() throws -> RunRecord {
        // The file is made with the first line.
        guard let bytes = FileManager.default.contents(atPath: run.recordFile) else { return RunRecord() }
        return try RunRecord(reading: Array(bytes))
    }

    func stored() async throws -> Int { try await ledger.count() }

    /// Asks again and again; each question waits for an answer of the database's.
    func waitUntil(_ what: String, _ isSo: () async throws -> Bool) async throws {
        try await EndToEnd.eventually("\(what)") {
            _ = try await stored()
            return try await isSo()
        }
    }

    /// A customer with a purchase.
    struct Customer: Decodable {
        var bundleId: String
        var environment: String
        var originalTransactionId: String
        /// Apple's number; 1 is active.
        var status: Int?
        /// The account that the newest transaction names.
        var appAccountToken: String?
        var transactionIds: [String]
        var orderIds: [String]
    }

    /// Those of the first app.
    func customers() async throws -> [Customer] {
        struct Page: Decodable { var customers: [Customer] }
        let page = try await HTTPPage(at: control.address + "/simulator/customers?limit=100")
        return try JSONDecoder().decode(Page.self, from: Data(page.text.utf8)).customers
            .filter { $0.bundleId == "com.example.app" }
    }

    /// Makes the simulated API misbehave.
    func fault(_ json: String) async throws {
        var request = HTTPClientRequest(url: control.address + "/simulator/faults")
        request.method = .POST
        request.body = .bytes(Array(json.utf8))
        let answer = try await HTTPClient.shared.execute(request, timeout: .minutes(10))
        guard (200...299).contains(answer.status.code) else {
            throw CommandError(String(buffer: try await answer.body.collect(upTo: 1 << 16)))
        }
    }

    /// The key that takes the other's place.
    var nextKey: APIKeyFile { Self.nextKey(services) }

    private static func nextKey(_ services: DevelopmentEnvironment.RunningServices) -> APIKeyFile {
        APIKeyFile(directory: services.processes.plan.directory + "/next", keyId: "NEWKEY0001")
    }

    /// Gives the services another key, as an operator does, and lets Apple refuse the old one as soon as they have it.
    func exchangeKeys() async throws {
        let plan = services.processes.plan
        let list = try Data(contentsOf: URL(fileURLWithPath: nextKey.list))
        try list.write(to: URL(fileURLWithPath: plan.apiKey.list), options: .atomic)
        for service in ["scheduler", "recovery"] {
            try await waitUntil("\(service) has read the new key") {
                try String(contentsOfFile: plan.log(of: service), encoding: .utf8).contains(
                    "Reloaded App Store Server API keys")
            }
        }
        var request = HTTPClientRequest(url: control.address + "/simulator/keys/\(plan.apiKey.keyId)")
        request.method = .DELETE
        let answer = try await HTTPClient.shared.execute(request, timeout: .minutes(10))
        guard answer.status == .ok else { throw CommandError("the simulator revokes no key: \(answer.status)") }
    }

    /// Runs a command as an operator would.
    func storekeeper(_ arguments: [String]) async throws -> (ending: ChildProcess.Ending, text: String, log: String) {
        let plan = services.processes.plan
        let output = "\(plan.directory)/command-\(UUID().uuidString)"
        let child = try await services.spawner.start(
            "storekeeper", program: try plan.binaries.path(of: "storekeeper"), arguments: arguments,
            environment: plan.operatorEnvironment, log: output + ".log", output: output)
        let ending = await child.ending()
        let text = try String(contentsOfFile: output, encoding: .utf8)
        return (ending, text, child.logTail())
    }
}
