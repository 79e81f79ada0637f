import Chassis
import Contracts
import Foundation
import Hummingbird
import ServerAPI
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import API

/// Receipts that cannot be proven by themselves, before a server that answers as Apple's `verifyReceipt` does.
@Suite(.hangLimit) struct VerifyReceiptTests {
    private static let account = UUID()

    /// Answers by the path; remembers what it was asked.
    private final class Server: Sendable {
        let asked = Mutex<[(path: String, body: JSONValue?)]>([])
        private let answers: [String: String]

        init(_ answers: [String: String]) { self.answers = answers }

        func answer(_ request: Request) async throws -> Response {
            let body = try await request.body.collect(upTo: 1 << 20)
            let json = try? JSONDocument(Array(body.readableBytesView)).root
            asked.withLock { $0.append((request.uri.path, json)) }
            guard let answer = answers[request.uri.path] else { return Response(status: .serviceUnavailable) }
            if answer.hasPrefix("/") { return Response(status: .temporaryRedirect, headers: [.location: answer]) }
            return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: answer)))
        }
    }

    private static func with(
        _ answers: [String: String],
        _ body: @escaping @Sendable (UploadFixture, AppleFixture, Server) async throws -> Void
    ) async throws {
        let server = Server(answers)
        let responder = CallbackResponder<BasicRequestContext> { request, _ in try await server.answer(request) }
        try await responder.serving(logger: .quiet) { port in
            let client = VerifyReceiptClient(baseURL: "http://127.0.0.1:\(port)", sharedSecret: "secret")
            try await AppleFixture.with { store, clients in
                try await UploadFixture.with(apple: clients, verifyReceipt: client) { fixture in
                    try await body(fixture, store, server)
                }
            }
        }
    }

    private static func upload(_ fixture: UploadFixture) async throws -> RunningAPI.Answer {
        try await fixture.api.send(
            "POST", "/v1/receipts", key: fixture.key,
            json: #"{"bundleId":"com.example.reader","appAccountToken":"\#(account.uuidString)","receipt":"AAAA"}"#)
    }

    /// The customer that every simulated store has, whatever else happens in it.
    private static func answer(_ environment: String, bundleId: String = "com.example.reader") async throws -> String {
        let found = Mutex("")
        try await AppleFixture.with { store, _ in
            let id = try store.subscribe().originalTransactionId
            found.withLock {
                $0 = """
                    {"status":0,"environment":"\(environment)","receipt":{"bundle_id":"\(bundleId)"},
                     "latest_receipt_info":[{"original_transaction_id":"\(id)"}]}
                    """
            }
        }
        return found.withLock { $0 }
    }

    @Test func `Receipt that cannot be proven is verified by Apple, and Apple is asked about its purchases`()
        async throws
    {
        let answer = try await Self.answer("Production")
        try await Self.with(["/production/verifyReceipt": answer]) { fixture, store, server in
            let bought = try store.subscribe()
            let uploaded = try await Self.upload(fixture)
            #expect(uploaded.rejected.isEmpty && uploaded.accepted == 2, "\(uploaded.rejected)")
            let ids = (uploaded.json?["accepted"]?.elements ?? []).compactMap { $0["originalTransactionId"]?.string }
            #expect(Set(ids) == [bought.originalTransactionId])
            let asked = server.asked.withLock { $0 }
            #expect(asked.map(\.path) == ["/production/verifyReceipt"])
            #expect(asked.first?.body?["receipt-data"]?.string == "AAAA")
            #expect(asked.first?.body?["password"]?.string == "secret")
        }
    }

    @Test func `Receipt of the sandbox is asked about there, and does not count for a key of production`()
        async throws
    {
        let answer = try await Self.answer("Sandbox")
        try await Self.with(["/production/verifyReceipt": #"{"status":21007}"#, "/sandbox/verifyReceipt": answer]) {
            fixture, store, server in
            _ = try store.subscribe()
            let uploaded = try await Self.upload(fixture)
            #expect(uploaded.rejected == ["environment"] && uploaded.accepted == 0)
            #expect(
                server.asked.withLock { $0.map(\.path) } == ["/production/verifyReceipt", "/sandbox/verifyReceipt"])
        }
    }

    @Test(arguments: [
        (#"{"status":21003}"#, "receipt-rejected", "not Apple's"), (#"{"status":21004}"#, "receipt-rejected", "secret"),
        (#"{"status":21005}"#, "apple-unavailable", "later"), ("<html>", "apple-unavailable", "did not answer"),
        (#"{"status":0,"receipt":{"in_app":[]}}"#, "receipt-rejected", "verifyReceipt"),
    ])
    func `Receipt that Apple does not verify is rejected with Apple's reason`(
        answer: String, reason: String, detail: String
    )
        async throws
    {
        try await Self.with(["/production/verifyReceipt": answer]) { fixture, _, _ in
            let uploaded = try await Self.upload(fixture)
            #expect(uploaded.rejected == [reason])
            let said = uploaded.json?["rejected"]?.elements.first?["detail"]?.string ?? ""
            #expect(said.contains(detail), "\(said)")
            #expect(!said.contains("secret\""))
        }
    }

    @Test func `The shared secret follows no redirect`() async throws {
        let answers = ["/production/verifyReceipt": "/elsewhere", "/elsewhere": #"{"status":21003}"#]
        try await Self.with(answers) { fixture, _, server in
            let uploaded = try await Self.upload(fixture)
            #expect(uploaded.rejected == ["apple-unavailable"])
            #expect(server.asked.withLock { $0.map(\.path) } == ["/production/verifyReceipt"])
        }
    }

    @Test func `An answer that begins and never ends is none`() async throws {
        let server = try StallingServer()
        let client = VerifyReceiptClient(
            baseURL: "http://127.0.0.1:\(server.port)", sharedSecret: nil, deadline: .milliseconds(200))
        let failure = await #expect(throws: VerifyReceiptClient.Failure.self) {
            _ = try await client.verify("AAAA")
        }
        #expect(failure?.isRetryable == true && failure?.status == nil)
        withExtendedLifetime(server) {}
    }
}
