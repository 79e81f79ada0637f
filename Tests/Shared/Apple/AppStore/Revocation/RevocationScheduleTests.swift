import AppStore
import Development
import Foundation
import Signatures
import Testing

@Suite struct RevocationScheduleTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)
    private let authority: DevelopmentAuthority
    private let chain: ValidatedChain
    private let responder: OCSPResponder

    init() throws {
        authority = try DevelopmentAuthority(now: Self.now)
        chain = try Self.chain(authority, leaf: authority.leaf)
        responder = OCSPResponder(
            authorities: [.init(authority.intermediateIssuer), .init(authority.rootIssuer)], validity: 7200)
    }

    private static func chain(_ authority: DevelopmentAuthority, leaf: [UInt8]) throws -> ValidatedChain {
        let root = try Certificate(der: authority.root)
        return try ChainValidator(trust: TrustStore(roots: [root])).validate(
            leaf: try Certificate(der: leaf), intermediate: authority.intermediateIssuer.certificate, offered: root
        ).get()
    }

    /// A real answer, dated.
    private func answer(
        _ question: RevocationSchedule.Question, _ standing: OCSPAnswer.Standing, at date: Date
    ) throws -> OCSPAnswer {
        let request = try OCSPRequest(about: question.certificate, issuedBy: question.issuer, nonce: [])
        let response = try responder.response(to: request.der, now: date) { _ in standing }
        return try request.answer(in: response, now: date)
    }

    private func later(_ seconds: Double) -> Date { Self.now.addingTimeInterval(seconds) }

    /// A schedule that was told of the chain, and the question about its leaf.
    private func started() throws -> (RevocationSchedule, RevocationSchedule.Question) {
        var schedule = RevocationSchedule()
        #expect(schedule.notice([chain, chain], now: Self.now).isEmpty)
        let due = schedule.due(now: Self.now)
        #expect(Set(due.map(\.certificate)) == [chain.leaf, chain.intermediate])
        #expect(due.first { $0.certificate == chain.intermediate }?.issuer == chain.root)
        return (schedule, try #require(due.first { $0.certificate == chain.leaf }))
    }

    private func standing(_ schedule: RevocationSchedule, at date: Date) -> RevocationRegister.Standing? {
        schedule.standings(now: date).first { $0.fingerprint == chain.leaf.sha256 }?.standing
    }

    private func isDue(_ schedule: RevocationSchedule, at date: Date) -> Bool {
        schedule.due(now: date).contains { $0.certificate == chain.leaf }
    }

    @Test func `RevocationSchedule uses a response for its validity and renews it long before the end`() throws {
        var (schedule, question) = try started()
        #expect(standing(schedule, at: Self.now) == .unknown)
        #expect(schedule.answered(question, try answer(question, .good, at: Self.now), now: Self.now) == .good)
        #expect(standing(schedule, at: later(7200)) == .good)
        #expect(standing(schedule, at: later(7201)) == .unknown)
        #expect(!isDue(schedule, at: later(3599)))
        #expect(isDue(schedule, at: later(3600)))
    }

    @Test func `Long validity does not put off the next question beyond the refresh`() throws {
        var pace = RevocationSchedule.Pace()
        pace.refresh = 600
        var schedule = RevocationSchedule(pace: pace)
        _ = schedule.notice([chain], now: Self.now)
        let question = try #require(schedule.due(now: Self.now).first { $0.certificate == chain.leaf })
        _ = schedule.answered(question, try answer(question, .good, at: Self.now), now: Self.now)
        #expect(!isDue(schedule, at: later(599)))
        #expect(isDue(schedule, at: later(600)))
    }

    @Test func `Responder that is silent is retried ever less often, which does not shorten the last answer`() throws {
        var (schedule, question) = try started()
        _ = schedule.answered(question, try answer(question, .good, at: Self.now), now: Self.now)
        var at = later(3600)
        for expected in [15.0, 30, 60, 120, 240, 480, 900, 900] {
            schedule.failed(question, now: at)
            #expect(!isDue(schedule, at: at.addingTimeInterval(expected - 1)))
            #expect(isDue(schedule, at: at.addingTimeInterval(expected)))
            at = at.addingTimeInterval(expected)
        }
        #expect(standing(schedule, at: later(7200)) == .good)
        for _ in 0..<100 { schedule.failed(question, now: at) }
        #expect(isDue(schedule, at: at.addingTimeInterval(900)))
    }

    @Test func `Revoked certificate stays revoked through silence, unknown status and earlier answers`() throws {
        var (schedule, question) = try started()
        let before = try answer(question, .good, at: later(-60))
        let revoked = OCSPAnswer.Standing.revoked(Self.now, reason: "")
        #expect(schedule.answered(question, try answer(question, revoked, at: Self.now), now: Self.now) == .revoked)
        #expect(schedule.revokedCount == 1)
        #expect(schedule.answered(question, before, now: later(1)) == .outdated)
        #expect(standing(schedule, at: later(1)) == .revoked)
        #expect(schedule.answered(question, try answer(question, .unknown, at: later(60)), now: later(60)) == .unknown)
        #expect(standing(schedule, at: later(1_000_000)) == .revoked)
        #expect(
            schedule.answered(question, try answer(question, revoked, at: later(90)), now: later(90)) == .stillRevoked)
        // Put on hold and released: only a newer word of the issuer's.
        #expect(schedule.answered(question, try answer(question, .good, at: later(120)), now: later(120)) == .good)
        #expect(standing(schedule, at: later(120)) == .good)
    }

    @Test func `Certificate whose time is over is not asked about`() throws {
        let (schedule, _) = try started()
        #expect(isDue(schedule, at: chain.leaf.notAfter))
        #expect(!isDue(schedule, at: chain.leaf.notAfter.addingTimeInterval(1)))
    }

    @Test func `RevocationSchedule stays small whatever is verified, and forgets revoked certificates last`() throws {
        var pace = RevocationSchedule.Pace()
        pace.capacity = 4
        var schedule = RevocationSchedule(pace: pace)
        _ = schedule.notice([chain], now: Self.now)
        let question = try #require(schedule.due(now: Self.now).first { $0.certificate == chain.leaf })
        let revoked = OCSPAnswer.Standing.revoked(Self.now, reason: "")
        _ = schedule.answered(question, try answer(question, revoked, at: Self.now), now: Self.now)
        var forgotten: [[UInt8]] = []
        for number in 1...6 {
            let profile = CertificateProfile.leaf(
                notBefore: later(-Double(number)), notAfter: later(86_400))
            let leaf = try authority.intermediateIssuer.issue(profile, for: .generate(.p256))
            forgotten += schedule.notice([try Self.chain(authority, leaf: leaf.der)], now: later(Double(number)))
        }
        #expect(schedule.count == 4)
        #expect(forgotten.count == 4)
        #expect(!forgotten.contains(chain.leaf.sha256))
        #expect(schedule.revokedCount == 1)
    }
}
