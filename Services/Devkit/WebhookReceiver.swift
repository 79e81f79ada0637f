import Chassis
import Commands
import Contracts
import Foundation
import Hummingbird
import Logging
import Operations
import Postgres
import Storage
import StrictJSON
import Synchronization
import WebhookDelivery

/// The backend of a development run that receives webhooks: verifies each request, writes a line of it to a file, and prints the first.
struct WebhookReceiver: Sendable {
    /// Deliveries that are printed, too; of all, the live view would not be seen any more.
    private static let printed = 3
    /// The path of its URLs, by which a later run in the same directory finds those of an earlier one.
    private static let path = "/storekeeper-dev"
    private static let bodyLimit = 1 << 20

    let databaseURL: String
    let plan: ProcessPlan
    let show: LiveDisplay
    let now: @Sendable () -> Date

    /// Where every delivery is written.
    var file: String { "\(plan.logDirectory)/webhooks-received.log" }

    /// Receives until it is cancelled.
    /// - Throws: where the file or the key file cannot be used, and what Postgres throws.
    func run() async throws {
        let secrets = WebhookSecrets(key: try Self.key(plan.webhookKeyFile))
        guard FileManager.default.createFile(atPath: file, contents: nil) else {
            throw CommandError("\(file) cannot be written")
        }
        let log = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        let received = Mutex(0)
        let router = Router()
        router.post("storekeeper-dev/:endpoint") { request, context in
            let body = Array(buffer: try await request.body.collect(upTo: Self.bodyLimit))
            let headers = Dictionary(
                request.headers.map { ($0.name.canonicalName, $0.value) }, uniquingKeysWith: { first, _ in first })
            let line = Self.line(of: body, to: context.parameters.get("endpoint") ?? "", secrets: secrets) { name in
                headers[name] ?? ""
            }
            guard let line else { return Response(status: .badRequest) }
            let number = try received.withLock { count in
                count += 1
                try log.write(contentsOf: Data("\(now().text) \(line)\n".utf8))
                return count
            }
            if number <= Self.printed { show.say("Webhook received: \(line)") }
            if number == Self.printed { show.say("Further webhooks are in \(file)") }
            return Response(status: .noContent)
        }
        try await router.serving(logger: .silent) { port in
            try await register(port: port)
            try await gracefulShutdown()
        }
    }

    /// One endpoint for each environment; those of an earlier run are removed.
    private func register(port: Int) async throws {
        let connection = PostgresConnection(
            PostgresConfiguration(url: databaseURL, applicationName: "storekeeper dev"), logger: .silent)
        let performer = try Performer("storekeeper dev", reason: "receiver that prints", at: now())
        for entry in try await WebhookEndpointStore(connection).all() where entry.endpoint.url.contains(Self.path) {
            try await ChangeWebhook(.remove, of: entry.endpoint.id, on: connection).perform(
                on: connection, by: performer)
        }
        for environment in Set(plan.apps.flatMap(\.environments)).sorted(by: { $0.rawValue < $1.rawValue }) {
            let id = UUID()
            _ = try await CreateWebhook(
                url: "http://127.0.0.1:\(port)\(Self.path)/\(id.uuidString.lowercased())", environment: environment,
                filter: WebhookFilter(), isOrdered: true
            ).perform(on: connection, id: id, by: performer)
        }
        await connection.close()
    }

    private static func key(_ file: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: file))).filter { $0 != UInt8(ascii: "\n") }
    }

    /// What a request says; nil for one that is not signed with the endpoint's first secret.
    static func line(
        of body: [UInt8], to endpoint: String, secrets: WebhookSecrets, header: (String) -> String
    ) -> String? {
        guard let id = UUID(uuidString: endpoint), let timestamp = Int64(header("webhook-timestamp")) else {
            return nil
        }
        let name = header("webhook-id")
        let signature = WebhookSignature.text(
            of: body, id: name, timestamp: timestamp, secret: secrets.bytes(of: id, generation: 1))
        guard header("webhook-signature").split(separator: " ").contains(Substring(signature)),
            let root = try? JSONDocument(body).root
        else { return nil }
        let data = root["data"]
        let words = [
            root["type"]?.string, data?["environment"]?.string, data?["originalTransactionId"]?.string,
            data?["revision"]?.int64.map { "revision \($0)" }, "id \(name)",
        ]
        return words.compactMap(\.self).joined(separator: " ")
    }
}
