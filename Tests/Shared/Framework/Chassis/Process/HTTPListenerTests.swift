import Hummingbird
import TestSupport
import Testing

@testable import Chassis

@Suite(.hangLimit) struct HTTPListenerTests {
    /// Answers 200 to everything.
    private struct Server: Service {
        let onListening: @Sendable (Int) -> Void

        func run() async throws {
            let listener = HTTPListener(
                address: ListenAddress(host: "127.0.0.1", port: 0), variable: "ADDRESS", purpose: "cannot listen on",
                announcement: "Listening", logger: .quiet, onListening: onListening)
            try await listener.run(CallbackResponder<BasicRequestContext> { _, _ in Response(status: .ok) })
        }
    }

    private func withClient(_ body: (RawClient) async throws -> Void) async throws {
        let (ports, signal) = AsyncStream.makeStream(of: Int.self)
        try await whileRunning([Server { signal.yield($0) }], logger: .quiet) {
            try await body(RawClient(port: try #require(await ports.first { _ in true })))
        }
    }

    private static func request(_ fields: [String]) -> String {
        "GET / HTTP/1.1\r\nHost: test\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    @Test(
        arguments: [
            ["One: " + String(repeating: "a", count: 20 << 10)],
            [String](repeating: "Many: " + String(repeating: "a", count: 1 << 10), count: 20),
            [String](repeating: "a: b", count: 200),
        ])
    func `HTTPListener answers 400 to a request with 20 KiB or 200 fields of headers, and ends the connection`(
        fields: [String]
    ) async throws {
        try await withClient { client in
            await client.send(Self.request(fields))
            let answer = await client.answer()
            #expect(answer?.status == 400 && answer?.headers["connection"] == "close")
            await client.waitForTheEnd()
        }
    }

    @Test func `HTTPListener takes a header of 15 KiB`() async throws {
        try await withClient { client in
            for _ in 0..<2 {
                await client.send(Self.request(["One: " + String(repeating: "a", count: 15 << 10)]))
                #expect(await client.answer()?.status == 200)
            }
        }
    }
}
