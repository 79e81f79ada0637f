import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore
import StrictJSON

/// A running simulator, asked by another process.
struct SimulatorClient: Sendable {
    /// How long a command waits until its notification was answered.
    private static let patience: Duration = .seconds(15)

    /// Base URL, without a slash at the end.
    let address: String

    /// - Throws: ``SimulatorError`` where it does not answer, and with its own words where it refuses.
    func ask(_ method: String, _ path: String, _ body: [UInt8]? = nil) async throws -> JSONDocument {
        var request = HTTPClientRequest(url: address + "/simulator/" + path)
        request.method = .init(rawValue: method)
        if let body { request.body = .bytes(body) }
        let content: [UInt8]
        let status: Int
        do {
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
            content = Array(try await response.body.collect(upTo: 64 << 20).readableBytesView)
            status = Int(response.status.code)
        } catch {
            throw SimulatorError(
                "no simulator answers at \(address): start `simulator run` with --api-address or `storekeeper dev`, and name its "
                    + "address by --simulator or SIMULATOR_URL (\(error))")
        }
        guard let document = try? JSONDocument(content) else {
            throw SimulatorError("\(address) answered \(status) and no JSON: is it a simulator of this release?")
        }
        guard (200...299).contains(status) else {
            throw SimulatorError(document.root["problem"]?.string ?? "the simulator answered \(status)")
        }
        return document
    }

    /// Waits until a notification of a purchase was answered.
    /// - Returns: Apple's result of the attempt, such as `SUCCESS`; nil where there was none in time.
    func result(of uuid: String, purchase id: String) async throws -> String? {
        let clock = ContinuousClock()
        let deadline = clock.now + Self.patience
        while clock.now < deadline {
            let sent = try await ask("GET", "purchases/\(id)").root["notifications"]?.elements ?? []
            let result = sent.first { $0["notificationUUID"]?.string == uuid }?["sendAttemptResult"]?.string
            if let result { return result }
            try await clock.sleep(for: .milliseconds(50))
        }
        return nil
    }
}

/// Which simulator a command is for.
struct ClientOptions: ParsableArguments {
    @Option(help: "Address of the running simulator (default: SIMULATOR_URL, else http://127.0.0.1:8891).")
    var simulator: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let simulator { try Target.validate(simulator, as: "--simulator") }
    }

    func client(in context: CommandContext) throws -> SimulatorClient {
        let address = simulator ?? context.environment["SIMULATOR_URL"] ?? "http://127.0.0.1:8891"
        try Target.validate(address, as: "SIMULATOR_URL")
        return SimulatorClient(address: address.hasSuffix("/") ? String(address.dropLast()) : address)
    }

    /// Prints what a command made, once its notification was answered.
    /// - Throws: `ExitCode.failure` where the receiver did not accept it.
    func report(_ made: JSONDocument, to client: SimulatorClient, as sentence: (JSONValue) -> String) async throws {
        let root = made.root
        let uuid = root["notificationUUID"]?.string ?? ""
        let id = root["originalTransactionId"]?.string ?? ""
        let result = try await client.result(of: uuid, purchase: id)
        if json {
            print(String(decoding: made.bytes, as: UTF8.self))
        } else {
            let kind = [root["notificationType"]?.string, root["subtype"]?.string].compactMap(\.self)
            print(sentence(root))
            print("purchase      \(id)")
            if let transaction = root["transactionId"]?.string, transaction != id {
                print("transaction   \(transaction)")
            }
            if let account = root["appAccountToken"]?.string { print("account       \(account)") }
            print("notification  \(kind.joined(separator: " ")) \(uuid): \(result ?? "not answered yet")")
        }
        guard result == "SUCCESS" else {
            throw Self.notAccepted(result)
        }
    }

    /// - Parameter result: Apple's; nil where there was no answer in time.
    static func notAccepted(_ result: String?) -> SimulatorError {
        SimulatorError(
            "the receiver did not accept the notification (\(result ?? "no answer in time")): is --target of the simulator "
                + "right, and does the receiver answer 200? As Apple, the simulator retries in production, and in the sandbox "
                + "sends once unless `simulator run` has --retry-sandbox")
    }

    /// A time of an answer, to the second.
    static func time(_ value: JSONValue?) -> String? {
        value?.int64.map { Date(milliseconds: $0).formatted(.iso8601) }
    }
}
