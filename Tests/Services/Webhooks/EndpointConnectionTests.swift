import Foundation
import Synchronization
import TestSupport
import Testing
import WebhookDelivery

import class NIOPosix.NIOThreadPool

@testable import Webhooks

/// A resolver with a table, which a test may change between two questions.
final class TableResolver: Resolver {
    private let answers: Mutex<[[String]]>
    private let asked = Mutex(0)

    /// - Parameter answers: one for each question; the last one stays.
    init(_ answers: [String]...) { self.answers = Mutex(answers) }

    var questions: Int { asked.withLock { $0 } }

    func addresses(of host: String) async throws(Unresolved) -> [NetworkAddress] {
        asked.withLock { $0 += 1 }
        let texts = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        guard !texts.isEmpty else { throw Unresolved(description: "\(host) has no address") }
        return texts.compactMap { NetworkAddress($0) }
    }
}

@Suite struct EndpointConnectionTests {
    static let now = Date(timeIntervalSince1970: 1_765_000_000)
    static let development = ConnectionSettings(
        rules: AddressRules(allowsLoopback: true), allowsPlain: true, timeout: .seconds(60))

    static func send(
        _ url: String, _ settings: ConnectionSettings = development,
        _ resolver: any Resolver = TableResolver(["127.0.0.1"])
    ) async -> (outcome: AttemptOutcome, answer: String?) {
        let connection = EndpointConnection(to: url, settings, resolver: resolver)
        let result = await connection.send(Array("{}".utf8), headers: [("x-test", "1")], without: ["secret"], now: now)
        await connection.close()
        return result
    }

    @Test(.hangLimit) func `Names are looked up on threads that nothing else of the process blocks`() async throws {
        let release = DispatchSemaphore(value: 0)
        let blocked = 64
        for _ in 0..<blocked { NIOThreadPool.singleton.submit { _ in release.wait() } }
        defer { for _ in 0..<blocked { release.signal() } }
        #expect(try await SystemResolver().addresses(of: "localhost").contains { $0.isLoopback })
    }

    @Test func `The request goes to the checked address, with the name in Host`() async throws {
        try await HookReceiver.listening { receiver, port in
            let (outcome, _) = await Self.send("http://hooks.example.com:\(port)/a?b=c")
            #expect(outcome == .delivered(status: 200))
            #expect(receiver.all.map(\.path) == ["/a"])
            #expect(receiver.all.first?.headers["host"] == "hooks.example.com:\(port)")
            #expect(receiver.all.first?.headers["x-test"] == "1")
        }
    }

    @Test func `Redirects are not followed, and the answer is read up to a kilobyte without secrets`() async throws {
        try await HookReceiver.listening(answering: { _, request in
            request.path == "/redirect"
                ? .init(status: .found, headers: [.location: "/elsewhere"], body: "the secret")
                : .init(status: .internalServerError, body: String(repeating: "a", count: 500_000))
        }) { receiver, port in
            let (outcome, answer) = await Self.send("http://127.0.0.1:\(port)/redirect")
            #expect(outcome.status == 302 && outcome.fault?.contains("not followed") == true)
            #expect(answer == "the …")
            let long = await Self.send("http://127.0.0.1:\(port)/long")
            #expect(long.outcome.status == 500 && long.answer?.count == 960)
            #expect(receiver.all.map(\.path) == ["/redirect", "/long"])
        }
    }

    @Test func `Retry-After and 410 are read`() async throws {
        try await HookReceiver.listening(answering: { number, _ in
            number == 1 ? .init(status: .tooManyRequests, headers: [.retryAfter: "7"]) : .init(status: .gone)
        }) { _, port in
            let url = "http://127.0.0.1:\(port)/"
            #expect(await Self.send(url).outcome == .throttled(status: 429, seconds: 7))
            #expect(await Self.send(url).outcome == .gone)
        }
    }

    @Test func `A receiver that does not answer in time has failed`() async throws {
        var settings = Self.development
        settings.timeout = .milliseconds(50)
        let hurried = settings
        let (gate, open) = AsyncStream<Void>.makeStream()
        try await HookReceiver.listening(answering: { _, _ in
            for await _ in gate { break }
            return .init()
        }) { _, port in
            let (outcome, _) = await Self.send("http://127.0.0.1:\(port)/", hurried)
            #expect(outcome == .failed(status: nil, fault: "no answer within 0 s"))
            open.finish()
        }
    }

    @Test func `No request reaches an address that is not allowed, however it is written or named`() async throws {
        try await HookReceiver.listening { receiver, port in
            let production = ConnectionSettings(timeout: .seconds(5))
            let plain = ConnectionSettings(allowsPlain: true, timeout: .seconds(5))
            for host in [
                "127.0.0.1", "127.1", "0177.0.0.1", "0x7f.0.0.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]",
                "[::ffff:7f00:1]",
                "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "localhost", "a.localhost", "localhost.localdomain", "0",
                "0.0.0.0", "[::]",
                "user@127.0.0.1", "127.0.0.1#@example.com", "example.com\\@127.0.0.1",
            ] {
                for settings in [production, plain] {
                    for scheme in ["http", "https"] {
                        let (outcome, _) = await Self.send("\(scheme)://\(host):\(port)/", settings, SystemResolver())
                        #expect(outcome.status == nil && outcome.fault != nil, "\(host)")
                    }
                }
            }
            for answers in AddressTable.forbidden {
                let (outcome, _) = await Self.send("https://a.example.com:\(port)/", production, TableResolver(answers))
                #expect(outcome.fault?.hasPrefix("no request is sent to a.example.com") == true, "\(answers)")
            }
            #expect(receiver.all.isEmpty)
        }
    }

    @Test func `A name that answers publicly and then privately gets no request at its private address`() async throws {
        try await HookReceiver.listening { receiver, port in
            var settings = ConnectionSettings(allowsPlain: true, timeout: .seconds(60))
            settings.addressAge = .zero
            let resolver = TableResolver(["127.0.0.1"], ["10.0.0.1"], ["127.0.0.1"])
            settings.rules = AddressRules(allowsLoopback: true)
            let connection = EndpointConnection(to: "http://a.example.com:\(port)/", settings, resolver: resolver)
            func send() async -> AttemptOutcome {
                await connection.send([], headers: [], without: [], now: Self.now).outcome
            }
            #expect(await send() == .delivered(status: 200))
            #expect(await send().fault?.contains("10.0.0.1 is private") == true)
            #expect(await send() == .delivered(status: 200))
            #expect(resolver.questions == 3 && receiver.all.count == 2)
            await connection.close()
        }
    }

    @Test func `Without https only this machine is sent to, and a name without an address is a failure`() async {
        let far = await Self.send("http://a.example.com/", Self.development, TableResolver(["1.1.1.1"]))
        #expect(far.outcome.fault == "http:// is for receivers on this machine, and 1.1.1.1 is none")
        let none = await Self.send("https://a.example.com/", ConnectionSettings(), TableResolver([]))
        #expect(none.outcome.fault == "a.example.com has no address")
        // A connection that is refused is tried again until then.
        var settings = Self.development
        settings.timeout = .seconds(1)
        let refused = await Self.send("http://127.0.0.1:1025/", settings)
        #expect(refused.outcome.status == nil && refused.outcome.fault?.isEmpty == false)
    }
}

/// Answers of resolvers, each with an address to which nothing may be sent.
enum AddressTable {
    static let forbidden: [[String]] =
        [
            "0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1", "192.0.2.1",
            "192.168.0.1",
            "198.18.0.1", "203.0.113.9", "224.0.0.1", "255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1",
            "64:ff9b::7f00:1", "64:ff9b:1::1", "2001:db8::1", "2002:7f00:1::", "fc00::1", "fd00:ec2::254", "fe80::1",
            "ff02::1",
        ].flatMap { [[$0], ["1.1.1.1", $0], [$0, "2606:4700::1"]] }
}
