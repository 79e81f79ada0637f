import Foundation
import Testing

@testable import WebhookDelivery

@Suite struct AttemptOutcomeTests {
    static let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    @Test(arguments: [200, 201, 204, 299])
    func `2xx is delivered`(status: Int) {
        #expect(
            AttemptOutcome(status: status, retryAfter: nil, now: Self.now) == .delivered(status: Int16(status)))
    }

    @Test func `410 disables, 429 and 503 with Retry-After pause, everything else is a failure`() {
        #expect(AttemptOutcome(status: 410, retryAfter: nil, now: Self.now) == .gone)
        #expect(AttemptOutcome(status: 429, retryAfter: "7", now: Self.now) == .throttled(status: 429, seconds: 7))
        #expect(AttemptOutcome(status: 503, retryAfter: " 7", now: Self.now) == .throttled(status: 503, seconds: 7))
        for status in [301, 302, 307, 308, 400, 401, 404, 429, 500, 503, 100] {
            guard case .failed(let code, _) = AttemptOutcome(status: status, retryAfter: nil, now: Self.now) else {
                Issue.record("\(status)")
                continue
            }
            #expect(code == Int16(status))
        }
        #expect(AttemptOutcome(status: 302, retryAfter: "3", now: Self.now).fault?.contains("not followed") == true)
        #expect(AttemptOutcome(status: 503, retryAfter: "soon", now: Self.now).fault == "answered 503")
    }

    @Test func `What was not sent says nothing about the receiver`() {
        let made: [AttemptOutcome] = [
            .delivered(status: 200), .gone, .throttled(status: 429, seconds: 1),
            .failed(status: nil, fault: "no answer"),
        ]
        #expect(made.filter(\.isOfReceiver) == made)
        let damaged = AttemptOutcome.unreadable(fault: "trailing bytes")
        #expect(!AttemptOutcome.erased.isOfReceiver && !damaged.isOfReceiver)
        #expect(damaged.status == nil && damaged.fault == "the stored notification cannot be read: trailing bytes")
    }

    @Test func `Retry-After is a number of seconds or a date`() {
        #expect(RetryAfter.seconds("120", now: Self.now) == 120)
        #expect(RetryAfter.seconds("Sun, 06 Nov 1994 08:49:37 GMT", now: Self.now) == 0)
        #expect(RetryAfter.seconds("Sun, 06 Nov 1994 08:50:37 GMT", now: Self.now) == 60)
        #expect(RetryAfter.seconds("Sun, 06 Nov 1994 08:40:37 GMT", now: Self.now) == 0)
        #expect(
            RetryAfter.seconds("Thu, 29 Feb 2024 00:00:00 GMT", now: Date(timeIntervalSince1970: 1_709_164_799)) == 1)
        for text in ["", "-1", "1.5", "soon", "99999999999999", "Sun, 06 Nov 1994", "Sun, 32 Nov 1994 08:49:37 GMT"] {
            #expect(RetryAfter.seconds(text, now: Self.now) == nil, "\(text)")
        }
    }

    @Test func `What is kept of an answer has no signature, no secret, no account and no control characters`() {
        let account = "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"
        let answer =
            "no\n\(account.uppercased()) v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4= whsec_MfKQ9r8GKYq \u{1b}[0m"
        let text = AnswerExcerpt.text(Array(answer.utf8), without: [account])
        #expect(text == "no … v1,… whsec_…  [0m")
        for secret in [account, "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=", "whsec_MfKQ9r8GKYq"] {
            let combined = AnswerExcerpt.text(Array("\(secret)\u{301}".utf8), without: [account])
            #expect(combined.map { $0.utf8.suffix(5).elementsEqual("…\u{301}".utf8) } == true, "\(secret)")
        }
        #expect(AnswerExcerpt.text([], without: []) == nil)
        #expect(AnswerExcerpt.text([UInt8](repeating: 0x61, count: 5000), without: [])?.count == 960)
        #expect(AnswerExcerpt.text([0xff, 0xfe], without: []) != nil)
    }
}
