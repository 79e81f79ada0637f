import Foundation
import Testing

@testable import Recovery
@testable import ServerAPI

@Suite struct RetryDecisionTests {
    static func rejection(_ status: Int, _ body: String = "", until: Date? = nil) -> APIError {
        .rejected(
            APIRejection(endpoint: .subscriptionStatuses, status: status, body: Array(body.utf8), retryAfter: until))
    }

    /// Seconds, and whether the whole app pauses.
    static func pause(_ error: APIError) -> [Int64] {
        guard case .pause(let pause, let affectsApp) = RetryDecision(error, now: History.now) else { return [] }
        return [pause.length.components.seconds, affectsApp ? 1 : 0]
    }

    @Test func `RetryDecision pauses the app for an error that concerns all its customers`() {
        #expect(Self.pause(.unauthorized("the key")) == [60, 1])
        #expect(Self.pause(.unreachable("the network")) == [15, 1])
        #expect(Self.pause(.rateLimited(until: History.now.addingTimeInterval(12.3))) == [13, 1])
        #expect(Self.pause(.rateLimited(until: History.now.addingTimeInterval(86_400))) == [300, 1])
        #expect(Self.pause(Self.rejection(503)) == [15, 1])
        #expect(Self.pause(Self.rejection(503, until: History.now.addingTimeInterval(30))) == [30, 1])
        // A proxy's word, and an app that is not known there yet.
        #expect(Self.pause(Self.rejection(403)) == [300, 1])
        let unknown = #"{"errorCode":4040003,"errorMessage":"App not found."}"#
        #expect(Self.pause(Self.rejection(404, unknown)) == [300, 1])
    }

    @Test func `RetryDecision postpones the customer for an error that concerns one alone`() {
        let busy = #"{"errorCode":5000001,"errorMessage":"An unknown error occurred. Please try again."}"#
        #expect(Self.pause(Self.rejection(500, busy)) == [1, 0])
        #expect(Self.pause(Self.rejection(500, busy, until: History.now.addingTimeInterval(30))) == [30, 0])
    }

    @Test func `RetryDecision rejects what no retry can fix`() {
        let invalid = #"{"errorCode":4000006,"errorMessage":"Invalid transaction id."}"#
        let reasons = [
            APIError.unreadable("x"), .invalidRequest("x"), Self.rejection(400, invalid),
        ].map { error -> CustomerHistoryReason? in
            guard case .impossible(let reason, _) = RetryDecision(error, now: History.now) else { return nil }
            return reason
        }
        #expect(reasons == [.unreadable, .unaskable, .rejected])
    }
}
