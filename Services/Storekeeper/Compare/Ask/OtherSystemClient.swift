import Chassis
import Commands
import ServerAPI

/// Asks the API of another system about one customer at a time, at its limit. Reads only.
struct OtherSystemClient: Sendable {
    /// The result of a question about a customer.
    enum Answer: Sendable, Equatable {
        /// The body as the system wrote it.
        case known([UInt8])
        /// The system does not have the customer.
        case unknown
        /// The system refused the question, and would again; why.
        case refused(String)
        /// The system failed at every attempt; how.
        case failed(String)
    }

    let system: OtherSystem
    /// Without a slash at its end.
    let base: String
    let key: Secret
    let transport: APITransport
    let limit: RequestLimit
    let clock: APIClock
    var retry = APIRetryPolicy()

    /// Waits as long as the system's limit makes it, and asks again where that may help.
    /// - Throws: `CommandError` for what is no answer about this customer: the key is refused, or there is no answer at all;
    ///   `CancellationError`.
    func ask(about customer: String) async throws -> Answer {
        var (failures, pauses) = (0, 0)
        while true {
            try Task.checkCancellation()
            try await limit.admit()
            let answer = try await transport.get(
                base + system.path(of: customer),
                headers: system.headers(of: customer, key: String(decoding: key.revealedBytes, as: UTF8.self)),
                now: clock.now(), timeout: retry.attemptTimeout)
            switch answer {
            case .answered(200, let body, _): return .known(body)
            // RevenueCat creates a customer whom it does not have, and says so.
            case .answered(201, _, _), .answered(404, _, _): return .unknown
            case .answered(let status, _, _) where status == 401 || status == 403:
                throw CommandError(
                    "\(system.name) refuses the key of --key-file (\(status)): it must be a secret key that may read customers"
                )
            case .answered(429, _, let pause):
                pauses += 1
                let least = retry.pause(afterFailures: pauses, random: clock.random())
                await limit.close(for: max(pause ?? .zero, least))
            case .answered(let status, _, let pause) where status >= 500:
                failures += 1
                guard failures < retry.attempts else { return .failed("\(system.name) answers \(status)") }
                let least = retry.pause(afterFailures: failures, random: clock.random())
                try await clock.sleep(max(pause ?? .zero, least))
            case .answered(let status, _, _): return .refused("\(system.name) answers \(status)")
            case .unanswered(let reason):
                failures += 1
                guard failures < retry.attempts else {
                    throw CommandError("\(system.name) does not answer (\(reason)): check the network, and --url")
                }
                try await clock.sleep(retry.pause(afterFailures: failures, random: clock.random()))
            }
        }
    }
}
