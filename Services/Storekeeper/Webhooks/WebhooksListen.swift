import ArgumentParser
import AsyncHTTPClient
import Commands
import Contracts
import Foundation
import HTTPLimits
import Operations
import Records
import StrictJSON
import WebhookDelivery

/// `storekeeper webhooks listen`: forwards changes to a receiver that is being developed.
struct WebhooksListen: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Forward changes as signed webhooks to a local receiver.",
        discussion: """
            For development: reads the API's stream of events from now on, with a key that has the scope events:read, signs each \
            event with a secret that is printed at the start, posts it, and prints the answer. Needs no endpoint, no public \
            URL and no database. A request that fails is not repeated. Ends with Ctrl-C.

            Example: storekeeper webhooks listen --api http://127.0.0.1:8081 --key-file ./key \\
              --forward http://127.0.0.1:3000/hook
            """)

    @Option(help: "URL of the API.")
    var api: String

    @Option(help: "File that holds an API key with the scope events:read.")
    var keyFile: String

    @Option(help: "URL to which events are posted.")
    var forward: String

    @Option(help: "Secret to sign with, whsec_… (default: a new one, which is printed).")
    var secret: String?

    @Option(help: "End after so many events (default: never).")
    var count: Int?

    func validate() throws {
        for (name, text) in [("--api", api), ("--forward", forward)] {
            guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false,
                url.hasUsablePort
            else {
                throw ValidationError("\(name) \(text.escaped) is not a URL such as http://127.0.0.1:3000/hook")
            }
        }
        if let secret, Self.bytes(secret) == nil { throw ValidationError("--secret is not whsec_ and Base64") }
        if let count, count < 1 { throw ValidationError("--count \(count) is out of range: at least 1") }
    }

    private static func bytes(_ secret: String) -> [UInt8]? {
        guard secret.hasPrefix("whsec_"), let data = Data(base64Encoded: String(secret.dropFirst(6))), !data.isEmpty
        else {
            return nil
        }
        return Array(data)
    }

    func run(in context: CommandContext) async throws {
        guard let text = FileManager.default.contents(atPath: keyFile) else {
            throw CommandError("\(keyFile) cannot be read; check that it exists and its permissions")
        }
        let key = String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let bytes = secret.flatMap { Self.bytes($0) } ?? context.randomBytes(32)
        context.print("whsec_" + Data(bytes).base64EncodedString())
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            try await forward(over: client, key, bytes, in: context)
        } catch {
            try? await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    private struct StreamEnded: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads the stream, and again behind the last event where it ends.
    private func forward(
        over client: HTTPClient, _ key: String, _ secret: [UInt8], in context: CommandContext
    ) async throws {
        var last: String?
        var left = count ?? .max
        while left > 0 {
            var request = HTTPClientRequest(
                url: (api.hasSuffix("/") ? String(api.dropLast()) : api) + "/v1/events/stream?after=latest")
            request.headers.add(name: "authorization", value: "Bearer \(key)")
            if let last { request.headers.add(name: "last-event-id", value: last) }
            do {
                let response = try await client.execute(request, deadline: .distantFuture)
                if last != nil, response.status.code >= 500 || response.status == .tooManyRequests {
                    throw StreamEnded(description: "the API answered \(response.status.code)")
                }
                guard response.status == .ok else {
                    let body = try await response.body.collect(upTo: 1 << 16)
                    throw CommandError(
                        "the API answered \(response.status.code): "
                            + String(decoding: body.readableBytesView.prefix(500), as: UTF8.self).escaped)
                }
                if last == nil { context.warn("Listening at \(api); forwarding to \(forward)") }
                var lines = EventLines()
                for try await part in response.body {
                    for event in lines.add(part.readableBytesView) where left > 0 {
                        if !event.data.isEmpty {
                            try await post(event.data, over: client, secret, in: context)
                            left -= 1
                        }
                        last = event.id ?? last
                    }
                    if left == 0 { return }
                }
                throw StreamEnded(description: "the API closed it")
            } catch let error as CommandError {
                throw error
            } catch {
                context.warn("The stream ended (\(error)); reading it again behind the last event")
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func post(
        _ data: [UInt8], over client: HTTPClient, _ secret: [UInt8], in context: CommandContext
    ) async throws {
        // The API's event has the message of the topic within.
        guard let inner = try? JSONDocument(data).root["data"],
            let message = try? SubscriptionChanged(
                WireRecord(key: nil, value: Array(inner.rawBytes), headers: []))
        else { return context.warn("The API sent an event that cannot be read; use a newer storekeeper") }
        let (body, now) = (WebhookBody.of(message), context.now())
        let seconds = Int64(now.timeIntervalSince1970.rounded(.down))
        var request = HTTPClientRequest(url: forward)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "webhook-id", value: message.id)
        request.headers.add(name: "webhook-timestamp", value: String(seconds))
        request.headers.add(
            name: "webhook-signature",
            value: WebhookSignature.text(of: body, id: message.id, timestamp: seconds, secret: secret))
        if let sequence = message.sequence {
            request.headers.add(name: "storekeeper-cursor", value: String(sequence))
        }
        request.body = .bytes(body)
        let what = "\(WebhookBody.type(of: message.event)) of \(message.originalTransactionId)"
        do {
            let response = try await client.execute(request, timeout: .seconds(15))
            context.print("\(now.text) \(what.escaped): \(response.status.code)")
        } catch {
            context.print("\(now.text) \(what.escaped): no answer: \(error)")
        }
    }
}

/// Splits a stream of events into events, whatever the pieces in which it arrives.
struct EventLines {
    struct Event: Equatable {
        var id: String?
        var data: [UInt8]
    }

    private var rest: [UInt8] = []

    /// The events that are complete with these bytes; comments are none. One without data has only the place to go on from.
    mutating func add(_ bytes: some Collection<UInt8>) -> [Event] {
        rest += bytes
        var events: [Event] = []
        while let end = rest.firstRange(of: Array("\n\n".utf8)) {
            var event = Event(id: nil, data: [])
            for line in rest[..<end.lowerBound].split(separator: UInt8(ascii: "\n")) {
                if line.starts(with: "data: ".utf8) { event.data += line.dropFirst(6) }
                if line.starts(with: "id: ".utf8) { event.id = String(decoding: line.dropFirst(4), as: UTF8.self) }
            }
            if event.id != nil || !event.data.isEmpty { events.append(event) }
            rest.removeSubrange(..<end.upperBound)
        }
        return events
    }
}
