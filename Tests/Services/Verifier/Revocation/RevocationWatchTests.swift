import AppStore
import Contracts
import Development
import Foundation
import Pipeline
import Records
import Signatures
import Synchronization
import TestSupport
import Testing

@testable import SimulatedAppStore
@testable import Verifier

@Suite struct RevocationWatchTests {
    /// One verifier with its watch, and a time that the test moves.
    private final class Surroundings: Sendable {
        private static let start = Date(timeIntervalSince1970: 1_780_000_000)
        private let date = Mutex(start)
        let log = LogLines()
        let clock = WakingClock()
        let register: RevocationRegister
        let client: ResponderClient
        private let holder = Mutex<(SignedDataVerifier, RevocationWatch, [UInt8])?>(nil)

        init(hard: Bool, timeout: Int64 = 5) {
            register = RevocationRegister(isHard: hard)
            client = ResponderClient(timeout: timeout)
        }

        var now: @Sendable () -> Date { { self.date.withLock(\.self) } }
        func pass(_ seconds: Double) { date.withLock { $0 += seconds } }

        /// A verifier that trusts the authority, and a notification that it signed.
        func setUp(_ authority: DevelopmentAuthority) throws -> (
            verifier: SignedDataVerifier, watch: RevocationWatch, jws: [UInt8]
        ) {
            let verifier = SignedDataVerifier(
                trust: TrustStore(roots: [try Certificate(der: authority.root)]),
                apps: AppRegistry(apps: [AcceptedApp(bundleId: "com.example.reader", appAppleId: 1)]),
                revocations: register)
            let watch = RevocationWatch(
                register: register, chains: { verifier.provenChains }, client: client,
                pace: RevocationSchedule.Pace(), clock: clock, now: now,
                nonce: { (0..<16).map { _ in .random(in: .min ... .max) } }, logger: log.logger)
            let json = """
                {"notificationType":"TEST","notificationUUID":"b5e0a6a0-6a3c-4a26-8dcb-5a2f66d6b3a5",\
                "data":{"bundleId":"com.example.reader","appAppleId":1,"environment":"Production"}}
                """
            let jws = try PayloadSigner(authority: authority).sign(Array(json.utf8))
            return (verifier, watch, jws)
        }
    }

    private static func reason(_ verifier: SignedDataVerifier, _ jws: [UInt8], _ now: Date)
        -> VerificationFailureReason?
    {
        if case .failure(let rejection) = verifier.notification(jws, now: now) { rejection.reason } else { nil }
    }

    /// With the simulator's responder.
    private func scene(
        hard: Bool = false,
        _ body:
            @Sendable (
                Surroundings, RunningResponder, SignedDataVerifier, RevocationWatch, _ jws: [UInt8]
            ) async throws -> Void
    ) async throws {
        let surroundings = Surroundings(hard: hard)
        try await RunningResponder.listening(now: surroundings.now) { responder in
            let (verifier, watch, jws) = try surroundings.setUp(responder.authority)
            try await body(surroundings, responder, verifier, watch, jws)
        }
        try await surroundings.client.shutdown()
    }

    @Test func `RevocationWatch checks only what was verified, once until it is due again`() async throws {
        try await scene { surroundings, responder, verifier, watch, jws in
            await watch.look()
            #expect(responder.questions == 0)
            var tampered = jws
            tampered[jws.count - 4] ^= 1
            #expect(Self.reason(verifier, tampered, surroundings.now()) != nil)
            await watch.look()
            #expect(responder.questions == 0)
            #expect(Self.reason(verifier, jws, surroundings.now()) == nil)
            await watch.look()
            await watch.look()
            #expect(responder.questions == 2)
            surroundings.pass(1799)
            await watch.look()
            #expect(responder.questions == 2)
            surroundings.pass(1)
            await watch.look()
            #expect(responder.questions == 4)
            #expect(Self.reason(verifier, jws, surroundings.now()) == nil)
        }
    }

    @Test(arguments: ["leaf", "intermediate"])
    func `RevocationWatch rejects a certificate revoked later within one refresh, and logs it once`(
        _ which: String
    ) async throws {
        try await scene { surroundings, responder, verifier, watch, jws in
            #expect(Self.reason(verifier, jws, surroundings.now()) == nil)
            await watch.look()
            responder.revoke("# found in a public repository\n\(which) 1779990000000")
            #expect(Self.reason(verifier, jws, surroundings.now()) == nil)
            surroundings.pass(3600)
            await watch.look()
            #expect(Self.reason(verifier, jws, surroundings.now()) == .revoked)
            surroundings.pass(3600)
            await watch.look()
            #expect(surroundings.log.containing("critical A certificate has been REVOKED").count == 1)
            #expect(surroundings.log.containing("since=2026-05-28").count == 1)
            // Whatever the responder answers from now on, it stays rejected.
            responder.revoke("")
            for behavior in [ResponderBehavior.busy, .ignorant, .expired, .impostor] {
                responder.behave(behavior)
                surroundings.pass(3600)
                await watch.look()
                #expect(Self.reason(verifier, jws, surroundings.now()) == .revoked)
            }
        }
    }

    @Test(arguments: [ResponderBehavior.ignorant, .expired, .impostor, .busy, .redirecting, .endless, .babbling])
    func `RevocationWatch ignores an answer that proves nothing in soft mode and rejects in hard mode`(
        _ behavior: ResponderBehavior
    ) async throws {
        for hard in [false, true] {
            try await scene(hard: hard) { surroundings, responder, verifier, watch, jws in
                responder.behave(behavior)
                responder.revoke("leaf")
                _ = Self.reason(verifier, jws, surroundings.now())
                await watch.look()
                #expect(responder.questions == 2)
                #expect(Self.reason(verifier, jws, surroundings.now()) == (hard ? .revocationUnknown : nil))
                #expect(!surroundings.log.containing("warning ").isEmpty)
                // The responder recovers.
                responder.behave(.honest)
                surroundings.pass(1800)
                await watch.look()
                #expect(Self.reason(verifier, jws, surroundings.now()) == .revoked)
            }
        }
    }

    @Test func `RevocationWatch accepts a responder without nonces`() async throws {
        try await scene(hard: true) { surroundings, responder, verifier, watch, jws in
            responder.behave(.forgetful)
            _ = Self.reason(verifier, jws, surroundings.now())
            await watch.look()
            #expect(Self.reason(verifier, jws, surroundings.now()) == nil)
        }
    }

    @Test func `RevocationWatch changes nothing in soft mode while the responder is unreachable`() async throws {
        let surroundings = Surroundings(hard: false)
        // Nothing listens on the reserved port.
        let authority = try DevelopmentAuthority(now: surroundings.now(), ocspAddress: "http://127.0.0.1:1/")
        let (verifier, watch, jws) = try surroundings.setUp(authority)
        for _ in 0..<5 {
            #expect(Self.reason(verifier, jws, surroundings.now()) == nil)
            await watch.look()
            surroundings.pass(900)
        }
        // Two certificates, one line each for the whole outage.
        #expect(surroundings.log.containing("warning Cannot check whether a certificate").count == 2)
        try await surroundings.client.shutdown()
    }

    @Test func `RevocationWatch gives up an answer that begins and never ends`() async throws {
        let server = try StallingServer()
        let surroundings = Surroundings(hard: true, timeout: 1)
        let authority = try DevelopmentAuthority(
            now: surroundings.now(), ocspAddress: "http://127.0.0.1:\(server.port)/")
        let (verifier, watch, jws) = try surroundings.setUp(authority)
        #expect(Self.reason(verifier, jws, surroundings.now()) == .revocationUnknown)
        await watch.look()
        #expect(Self.reason(verifier, jws, surroundings.now()) == .revocationUnknown)
        #expect(surroundings.log.containing("warning Cannot check whether a certificate").count == 2)
        try await surroundings.client.shutdown()
        withExtendedLifetime(server) {}
    }

    @Test func `RevocationWatch lets the last answer count in hard mode until it expires, and then nothing passes`()
        async throws
    {
        let surroundings = Surroundings(hard: true)
        try await RunningResponder.listening(now: surroundings.now) { responder in
            let (verifier, watch, jws) = try surroundings.setUp(responder.authority)
            #expect(Self.reason(verifier, jws, surroundings.now()) == .revocationUnknown)
            await watch.look()
            #expect(Self.reason(verifier, jws, surroundings.now()) == nil)
            responder.behave(.busy)
            surroundings.pass(3600)
            await watch.look()
            #expect(Self.reason(verifier, jws, surroundings.now()) == nil)
            surroundings.pass(1)
            await watch.look()
            #expect(Self.reason(verifier, jws, surroundings.now()) == .revocationUnknown)
        }
        try await surroundings.client.shutdown()
    }

    @Test func `RevocationWatch in hard mode lets the first notification under a certificate wait for the answer`()
        async throws
    {
        try await scene(hard: true) { surroundings, responder, verifier, watch, jws in
            let stage = Verify(
                verifier: { verifier }, now: surroundings.now, cores: 2, settleRevocation: { await watch.look() })
            func processed() async throws -> [String?] {
                let deliveries = (0..<3).map { offset in
                    Delivery(
                        message: ReceivedNotification(
                            signedPayload: offset == 1 ? [1] : jws, source: .webhook, receivedAt: surroundings.now()),
                        position: LogPosition(topic: Topics.received.name, partition: 0, offset: Int64(offset)))
                }
                return try await stage.process(deliveries).map {
                    if case .deadLetter(let reason, _) = $0 { reason.rawValue } else { nil }
                }
            }
            let first = try await processed()
            #expect(first == [nil, "malformed", nil])
            #expect(responder.questions == 2)
            responder.behave(.busy)
            surroundings.pass(7200)
            await watch.look()
            let asked = responder.questions
            // Checked in vain a moment ago: rejected without another check.
            let later = try await processed()
            #expect(later == ["revocation-unknown", "malformed", "revocation-unknown"])
            #expect(responder.questions == asked)
        }
    }

    @Test func `RevocationWatch rejects a certificate that names no responder in hard mode only`() async throws {
        for hard in [false, true] {
            let surroundings = Surroundings(hard: hard)
            let (verifier, watch, jws) = try surroundings.setUp(try DevelopmentAuthority(now: surroundings.now()))
            _ = Self.reason(verifier, jws, surroundings.now())
            await watch.look()
            #expect(Self.reason(verifier, jws, surroundings.now()) == (hard ? .revocationUnknown : nil))
            #expect(surroundings.log.containing("warning ").count == (hard ? 2 : 0))
            try await surroundings.client.shutdown()
        }
    }

    @Test func `RevocationWatch checks by itself and stops at shutdown`() async throws {
        let surroundings = Surroundings(hard: false)
        try await RunningResponder.listening(now: surroundings.now) { responder in
            let (verifier, watch, jws) = try surroundings.setUp(responder.authority)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await watch.run() }
                await surroundings.clock.someoneSleeps()
                #expect(Self.reason(verifier, jws, surroundings.now()) == nil)
                responder.revoke(try Certificate(der: responder.authority.leaf).serialNumber.lowercased())
                await surroundings.clock.turn(by: .seconds(2))
                #expect(Self.reason(verifier, jws, surroundings.now()) == .revoked)
                group.cancelAll()
            }
        }
    }
}
