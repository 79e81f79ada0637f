import AsyncHTTPClient
import Foundation
import Testing

@testable import Devkit
@testable import Operations

extension EndToEnd {
    struct BadInputTests {
        /// Where a notification ends that ingest has taken.
        enum End: Equatable {
            case stored
            case rejected(String)
        }

        /// By the simulator's name of the case.
        static let accepted: [(specimen: String, end: End)] = [
            ("unknown-type", .stored),
            ("missing-signed-date", .stored),
            ("test", .stored),
            ("one-time-charge", .stored),
            ("wrong-root", .rejected("chain-untrusted")),
            ("tampered", .rejected("signature")),
            ("unsigned", .rejected("algorithm")),
            ("strangers-app", .rejected("app-unknown")),
            ("foreign-transaction", .rejected("nested-mismatch")),
            ("too-new", .rejected("not-yet-valid")),
            ("too-old", .rejected("expired-at-signing")),
        ]

        /// Bodies that can never be a notification, and what is answered.
        static let impossible: [(body: String, status: Int, error: String)] = [
            ("", 400, "empty-body"),
            ("signedPayload=a.b.c", 400, "not-json"),
            (#"["a.b.c"]"#, 400, "not-an-object"),
            (#"{"payload":"a.b.c"}"#, 400, "no-signed-payload"),
            (#"{"signedPayload":7}"#, 400, "signed-payload-not-a-string"),
            (#"{"signedPayload":{"a":"b"}}"#, 400, "signed-payload-not-a-string"),
            (#"{"signedPayload":"aaaa.bb!b.cccc"}"#, 400, "not-three-segments"),
            (#"{"signedPayload":"aaaa.bbbb"}"#, 400, "not-three-segments"),
            (#"{"signedPayload":"\#(String(repeating: "a", count: 5 << 20)).b.c"}"#, 413, "too-large"),
        ]

        @Test func `Bad input of every kind gets its answer, ends in its place, and stops nothing`() async throws {
            try await EndToEnd.withPipeline(
                settings: [.ingest: ["STOREKEEPER_INGEST_READ_TIMEOUT": "1s"]]
            ) { services in
                let target = try #require(await services.processes.target)
                let deadLetters = try await DeadLetterCounter(services.kafka, logger: .silent)
                let watching = Task { await deadLetters.watch() }
                for (body, status, error) in Self.impossible {
                    let answer = try await Self.post(body, to: target)
                    #expect(answer.status == status, "\(body.prefix(60))")
                    #expect(answer.text.contains(error), "\(body.prefix(60)): \(answer.text)")
                }
                try await Self.slowClientIsSentAway(from: target, services)
                // Looks like three segments of base64url and is no JWS.
                #expect(try await Self.post(#"{"signedPayload":"aaab.bbbb.cccc"}"#, to: target).status == 200)

                let ledger = EndToEnd.ledger(of: services)
                var uuids: [String: String] = [:]
                for (number, (specimen, _)) in (Self.accepted + [("subscribed", .stored)]).enumerated() {
                    let body = try await EndToEnd.make(specimen, seed: 100 + number, services)
                    #expect(try await Self.post(body, to: target).status == 200, "\(specimen)")
                    let members = try JSONDecoder().decode([String: String].self, from: Data(body.utf8))
                    uuids[specimen] =
                        DeadLetterContents(signedPayload: Array((members["signedPayload"] ?? "").utf8)).notificationUUID
                }
                // The good one was posted last: when it is there, none of the others has stopped the pipeline.
                let good = try #require(uuids["subscribed"])
                try await EndToEnd.eventually("the good notification is stored") {
                    try await ledger.uuids().contains(good)
                }
                try await EndToEnd.eventually("everything has ended somewhere") {
                    try await ledger.count() + deadLetters.count >= Self.accepted.count + 2
                }
                let stored = try await ledger.uuids()
                for (specimen, end) in Self.accepted {
                    let uuid = try #require(uuids[specimen], "\(specimen) names itself")
                    let deadLetter = deadLetters.all.first { $0.uuid == uuid }
                    #expect(stored.contains(uuid) == (end == .stored), "\(specimen)")
                    #expect(deadLetter.map { .rejected($0.reason) } ?? .stored == end, "\(specimen)")
                }
                #expect(deadLetters.all.contains { $0.uuid == nil && $0.reason == "malformed" })
                #expect(await services.processes.running.count == ServiceKind.allCases.count)
                watching.cancel()
                await watching.value
            }
        }

        /// Sends half a request and waits for whatever comes; nothing is sent in between.
        private static func slowClientIsSentAway(
            from target: String, _ services: DevelopmentEnvironment.RunningServices
        )
            async throws
        {
            let port = try #require(URL(string: target)?.port)
            let script = """
                exec 3<>/dev/tcp/127.0.0.1/\(port)
                printf 'POST /v1/notifications HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 100\\r\\n\\r\\n{' >&3
                cat <&3
                """
            let client = try await services.spawner.start(
                "slow-client", program: "/bin/bash", arguments: ["-c", script], environment: [:],
                log: services.processes.plan.log(of: "slow-client"))
            _ = await client.ending()
            let answer = client.logTail()
            #expect(answer.isEmpty || answer.contains("408"), "\(answer)")
        }

        private static func post(_ body: String, to target: String) async throws -> (status: Int, text: String) {
            var request = HTTPClientRequest(url: target)
            request.method = .POST
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(Array(body.utf8))
            let response = try await HTTPClient.shared.execute(request, timeout: .minutes(10))
            return (Int(response.status.code), String(buffer: try await response.body.collect(upTo: 1 << 20)))
        }
    }
}
