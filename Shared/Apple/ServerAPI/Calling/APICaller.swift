import AppStore

import struct Foundation.Date

/// Brings one call to its end: limits, token, attempts, deadline.
struct APICaller: Sendable {
    /// Without a slash at its end.
    let base: String
    let bundleId: String
    let environment: AppStoreEnvironment
    let transport: APITransport
    let tokens: TokenSource
    let limits: any APILimits
    let retry: APIRetryPolicy
    let clock: APIClock
    let observe: @Sendable (APIAttempt) -> Void

    /// The body of the answer.
    ///
    /// - Parameter deadline: For everything together, pauses included.
    /// - Throws: `APIError`; `CancellationError`; `OpenSSLFailure` where the key cannot sign.
    func call(_ request: APIRequest, deadline: Duration) async throws -> [UInt8] {
        let end = clock.elapsed() + deadline
        var course = CallCourse(retry)
        var number = 0
        while true {
            try Task.checkCancellation()
            let begun = clock.elapsed()
            try await limits.admit(request.endpoint, before: end)
            let token = try await tokens.token(now: clock.now())
            let sent = clock.elapsed()
            // A moment at the deadline itself still gets an attempt, however short.
            let timeout = min(retry.attemptTimeout, max(end - sent, .milliseconds(1)))
            let outcome = try await transport.send(request, to: base, token: token, timeout: timeout)
            let now = clock.now()
            let meaning = AnswerMeaning(outcome, of: request.endpoint, now: now)
            number += 1
            observe(attempt(number, of: request.endpoint, outcome, meaning, waited: sent - begun, since: sent))
            switch course.step(after: meaning, chances: await tokens.chances, random: clock.random()) {
            case .done(let body): return body
            case .fail(let error): throw error
            case .again(let pause, let error):
                guard clock.elapsed() + pause < end else { throw error }
                try await clock.sleep(pause)
            case .queue(let pause): await limits.close(request.endpoint, for: pause)
            case .reauthorize(let serverDate, let isLastChance):
                let isWorthwhile = await tokens.rejected(token, serverDate: serverDate, now: now)
                guard isWorthwhile, !isLastChance else { throw await tokens.unauthorized }
            }
        }
    }

    private func attempt(
        _ number: Int, of endpoint: APIEndpoint, _ outcome: APIOutcome, _ meaning: AnswerMeaning, waited: Duration,
        since sent: Duration
    ) -> APIAttempt {
        let (status, serverDate): (Int?, Date?) =
            switch outcome {
            case .answered(let answer): (answer.status, answer.serverDate)
            case .oversized(let status, _): (status, nil)
            case .unanswered: (nil, nil)
            }
        let result =
            switch meaning {
            case .success: "success"
            case .unauthorized: "unauthorized"
            case .tooMany: "rate-limited"
            case .transient: "transient"
            case .final: "final"
            }
        return APIAttempt(
            bundleId: bundleId, environment: environment, endpoint: endpoint, number: number, status: status,
            result: result, waited: waited, duration: clock.elapsed() - sent, serverDate: serverDate)
    }
}
