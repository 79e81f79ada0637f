import Foundation
import Hummingbird
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

/// A resolver that answers when so much time has passed.
struct LateResolver: Resolver {
    let after: Duration

    func addresses(of host: String) async throws(Unresolved) -> [NetworkAddress] {
        let end = ContinuousClock.now.advanced(by: after)
        while ContinuousClock.now < end { await Task.yield() }
        return [NetworkAddress("127.0.0.1")].compactMap { $0 }
    }
}

@Suite struct EndpointConnectionTests {
    static let now = Date(timeIntervalSince1970: 1_765_000_000)
    static let development = ConnectionSettings(
        rules: AddressRules(allowsLoopback: true), allowsPlain: true, timeout: .seconds(60))

    static func send(
        _ url: String, _ settings: ConnectionSettings = development,
        _ resolver: any Resolver = TableResolver(["127.0.0.1"])
    ) async -> (outcome: AttemptOutcome, answer: [UInt8]) {
        let connection = EndpointConnection(to: url, settings, resolver: resolver)
        let result = await connection.send(Array("{}".utf8), headers: [("x-test", "1")], now: now)
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

    @Test(.hangLimit) func `A name is looked up while those of all other places are not answered`() async throws {
        let release = DispatchSemaphore(value: 0)
        let slow = Places.total - 1
        for _ in 0..<slow { SystemResolver.threads.submit { _ in release.wait() } }
        defer { for _ in 0..<slow { release.signal() } }
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

    @Test func `Redirects are not followed, and the answer is read up to a kilobyte`() async throws {
        try await HookReceiver.listening(answering: { _, request in
            request.path == "/redirect"
                ? .init(status: .found, headers: [.location: "/elsewhere"], body: "not here")
                : .init(status: .internalServerError, body: String(repeating: "a", count: 500_000))
        }) { receiver, port in
            let (outcome, answer) = await Self.send("http://127.0.0.1:\(port)/redirect")
            #expect(outcome.status == 302 && outcome.fault?.contains("not followed") == true)
            #expect(answer == Array("not here".utf8))
            let long = await Self.send("http://127.0.0.1:\(port)/long")
            #expect(long.outcome.status == 500 && long.answer.count == 1024)
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

    @Test(.hangLimit) func `An answer that does not end counts by its head, and what came is kept`() async throws {
        var settings = Self.development
        settings.timeout = .milliseconds(50)
        let hurried = settings
        let half = "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 100\r\n\r\nhalf"
        try await ConnectionListener.listening(at: "127.0.0.1", answering: half) { _, port in
            let connection = EndpointConnection(
                to: "http://127.0.0.1:\(port)/", hurried, resolver: TableResolver(["127.0.0.1"]))
            // Also behind the first one's end.
            for _ in 0..<2 {
                async let first = connection.send([], headers: [], now: Self.now)
                async let second = connection.send([], headers: [], now: Self.now)
                for answer in await [first, second] {
                    #expect(answer.outcome.status == 500)
                    #expect(String(decoding: answer.answer, as: UTF8.self) == "half")
                }
            }
            await connection.close()
        }
    }

    @Test func `No connection is made to an address that is not allowed, however it is written or named`() async throws
    {
        #expect(Set(ForbiddenAddresses.answers).count >= 200 && Set(ForbiddenAddresses.hosts).count >= 60)
        try await ConnectionListener.listening(at: "0.0.0.0") { listener, port async throws in
            let production = ConnectionSettings(timeout: .seconds(5))
            let plain = ConnectionSettings(allowsPlain: true, timeout: .seconds(5))
            for host in ForbiddenAddresses.hosts {
                for settings in [production, plain] {
                    for scheme in ["http", "https"] {
                        let (outcome, _) = await Self.send("\(scheme)://\(host):\(port)/", settings, SystemResolver())
                        #expect(outcome.status == nil && outcome.fault != nil, "\(host)")
                    }
                }
            }
            for address in ForbiddenAddresses.answers {
                for answers in [[address], ["1.1.1.1", address], [address, "2606:4700::1"]] {
                    let resolver = TableResolver(answers)
                    let (outcome, _) = await Self.send("https://a.example.com:\(port)/", production, resolver)
                    #expect(outcome.fault?.hasPrefix("no request is sent to a.example.com") == true, "\(answers)")
                }
            }
            #expect(try await listener.count(at: "127.0.0.1", port: port) == 0)
        }
    }

    @Test(arguments: [HTTPResponse.Status.movedPermanently, .found, .seeOther, .temporaryRedirect, .permanentRedirect])
    func `A redirect leads to no connection`(status: HTTPResponse.Status) async throws {
        try await ConnectionListener.listening(at: "0.0.0.0") { listener, forbidden in
            let places = ["127.0.0.1", "127.1", "2130706433", "0.0.0.0", "localhost", "[::ffff:127.0.0.1]"]
            let locations = places.map { "http://\($0):\(forbidden)/" } + ["//127.0.0.1:\(forbidden)/"]
            try await HookReceiver.listening(answering: { number, _ in
                .init(status: status, headers: [.location: locations[number - 1]])
            }) { receiver, port in
                for _ in locations {
                    let (outcome, _) = await Self.send("http://127.0.0.1:\(port)/")
                    #expect(outcome.status == Int16(status.code) && outcome.fault?.contains("not followed") == true)
                }
                #expect(receiver.all.count == locations.count)
            }
            #expect(try await listener.count(at: "127.0.0.1", port: forbidden) == 0)
        }
    }

    @Test func `The name is not looked up again between the check and the connection`() async throws {
        try await ConnectionListener.listening(at: "127.0.0.2") { listener, port in
            // The system's resolver leads to 127.0.0.1, where nothing listens.
            let (outcome, _) = await Self.send(
                "http://localhost:\(port)/", Self.development, TableResolver(["127.0.0.2"]))
            #expect(outcome == .delivered(status: 204))
            let count = try await listener.count(at: "127.0.0.2", port: port)
            #expect(count == 1)
        }
    }

    @Test func `A lookup uses up the time of its request, which is then not sent`() async throws {
        try await HookReceiver.listening { receiver, port in
            var settings = Self.development
            settings.timeout = .milliseconds(20)
            let (outcome, _) = await Self.send(
                "http://a.example.com:\(port)/", settings, LateResolver(after: .milliseconds(20)))
            #expect(outcome == .failed(status: nil, fault: "a.example.com was not looked up within 0 s"))
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
                await connection.send([], headers: [], now: Self.now).outcome
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
