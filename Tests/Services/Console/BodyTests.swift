import TestSupport
import Testing

/// Connections are few, and a stranger holds each for no longer than a form may take.
@Suite(.hangLimit) struct BodyTests {
    @Test func `Console answers 408 where a form does not arrive, and closes the connection`() async throws {
        try await RunningConsole.with(bodyTimeout: .milliseconds(1)) { console in
            let half = try RawClient(port: console.port)
            await half.send(
                "POST /sign-in HTTP/1.1\r\nHost: test\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 40\r\n"
                    + "Content-Type: application/x-www-form-urlencoded\r\n\r\nl")
            let answer = await half.answer()
            #expect(answer?.status == 408 && answer?.headers["connection"] == "close")
            await half.waitForTheEnd()
        }
    }

    @Test func `Console closes a connection whose body it does not read`() async throws {
        try await RunningConsole.with(bodyTimeout: .milliseconds(1)) { console in
            let endless = try RawClient(port: console.port)
            await endless.send("GET /sign-in HTTP/1.1\r\nHost: test\r\nContent-Length: 1000000000\r\n\r\n")
            let answer = await endless.answer()
            #expect(answer?.status == 200 && answer?.headers["connection"] == "close")
            var rest = 100_000
            while rest > 0, await endless.send([UInt8](repeating: 0x20, count: 1000)) { rest -= 1 }
            #expect(rest > 0, "the connection stays open while the body comes")
        }
    }

    /// The head of a form without its last line.
    private static let head =
        "POST /sign-in HTTP/1.1\r\nHost: test\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 40\r\n"
        + "Content-Type: application/x-www-form-urlencoded\r\n"

    @Test(arguments: ["", head, head + "\r\nl"])
    func `Console answers while strangers hold more connections than there are`(sent: String) async throws {
        try await RunningConsole.with(bodyTimeout: .seconds(3600), connections: 4) { console in
            var slow: [RawClient] = []
            for _ in 0..<40 {
                let client = try RawClient(port: console.port)
                await client.send(sent)
                slow.append(client)
            }
            #expect(try await console.get("/sign-in").status == 200)
            // The oldest of them made room.
            await slow[0].waitForTheEnd()
        }
    }

    @Test func `Console keeps the connection of a form that it read`() async throws {
        try await RunningConsole.with { console in
            let client = try RawClient(port: console.port)
            for _ in 0..<2 {
                let answer = await client.post(
                    Array("link=x".utf8), to: "/sign-in",
                    headers: ["Sec-Fetch-Site: same-origin", "Content-Type: application/x-www-form-urlencoded"])
                #expect(answer?.status == 403 && answer?.headers["connection"] == nil)
            }
        }
    }
}
