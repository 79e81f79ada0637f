import struct Foundation.Date

/// What an outcome means for a call: the one place that decides.
enum AnswerMeaning: Sendable, Hashable {
    /// Done; here is the body.
    case success([UInt8])
    /// The token was rejected.
    case unauthorized(serverDate: Date?)
    /// Too many requests; how long Apple wants a pause, if it says.
    case tooMany(pause: Duration?)
    /// Not done this time; the same may work later.
    case transient(APIError, pause: Duration?)
    /// Not done, and the same would not work later either, or might be done twice.
    case final(APIError)

    /// - Parameter now: By our clock.
    init(_ outcome: APIOutcome, of endpoint: APIEndpoint, now: Date) {
        switch outcome {
        case .answered(let answer): self.init(answer, of: endpoint, now: now)
        case .oversized(let status, let limit):
            self = .final(
                .unreadable(
                    "the App Store answered \(endpoint.rawValue) with \(status) and more than \(limit) bytes; ask for less, "
                        + "or raise the limit"))
        case .unanswered(let reason, let wasSent):
            if wasSent, !endpoint.isRepeatable {
                self = .final(.unsettled(Self.unsettled(endpoint, "there was no answer (\(reason))")))
            } else {
                self = .transient(
                    .unreachable(
                        "the App Store did not answer \(endpoint.rawValue) (\(reason)); check the network and the address, "
                            + "and try again"),
                    pause: nil)
            }
        }
    }

    private init(_ answer: APIAnswer, of endpoint: APIEndpoint, now: Date) {
        switch answer.status {
        case 200..<300: self = .success(answer.body)
        case 401: self = .unauthorized(serverDate: answer.serverDate)
        case 429: self = .tooMany(pause: Self.pause(answer, now: now))
        default: self.init(refusing: answer, of: endpoint, now: now)
        }
    }

    private init(refusing answer: APIAnswer, of endpoint: APIEndpoint, now: Date) {
        let pause = Self.pause(answer, now: now)
        let retryAfter = pause.map { now.addingTimeInterval($0 / .seconds(1)) }
        let rejection = APIRejection(
            endpoint: endpoint, status: answer.status, body: answer.body, retryAfter: retryAfter)
        if answer.status >= 500, !endpoint.isRepeatable, rejection.code?.isRetryable != true {
            // A server that broke down may have done it before; Apple's own "try again" says that it has not.
            self = .final(.unsettled(Self.unsettled(endpoint, "the answer was \(answer.status)")))
        } else {
            self = rejection.isRetryable ? .transient(.rejected(rejection), pause: pause) : .final(.rejected(rejection))
        }
    }

    /// Dates have whole seconds and took some time to arrive: only a real difference of clocks counts.
    private static func pause(_ answer: APIAnswer, now: Date) -> Duration? {
        let serverDate = answer.serverDate.flatMap { abs($0.timeIntervalSince(now)) > 5 ? $0 : nil }
        return RetryAfter.pause(answer.retryAfter, now: serverDate ?? now)
    }

    private static func unsettled(_ endpoint: APIEndpoint, _ reason: String) -> String {
        let whatToDo =
            switch endpoint {
            case .massExtension: "ask for the status of the request identifier before asking again"
            case .externalPurchaseReport: "ask for the report of the request identifier before sending it again"
            case .extendRenewalDate:
                "look at the renewal date, which a RENEWAL_EXTENDED notification tells, too, before asking again"
            case .retentionImageUpload, .retentionImageDeletion, .retentionMessageUpload, .retentionMessageDeletion,
                .retentionDefaultDeletion, .realtimeURLDeletion:
                "list what the App Store has before asking again"
            case .performanceTest: "another test is refused while this one runs"
            default: "look at the purchase, which notifications tell about, too, before asking again"
            }
        return "it is not known whether the App Store did \(endpoint.rawValue), because \(reason); \(whatToDo)"
    }
}
