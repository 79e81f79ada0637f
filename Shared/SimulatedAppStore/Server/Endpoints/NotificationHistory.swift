import Contracts
import Foundation
import StrictJSON

extension StoreAPI {
    /// Get Notification History: oldest first, by the time of the first attempt.
    func notificationHistory(_ call: APICall) throws -> APIAnswer {
        let question = try NotificationHistoryQuestion(try call.json(), of: call.app, now: call.now)
        let pageToken = try call.request.parameter("paginationToken").map {
            try self.pageToken($0, of: question, in: call)
        }
        // The first page decides what "now" is, so that slow paging comes to an end.
        let end = pageToken.map { Date(milliseconds: $0.limit) } ?? min(question.end, call.now)
        let (found, next) = try historyStore.withHistory(of: call.app) { appHistory in
            let positions = try Self.positions(on: appHistory, question, from: pageToken?.position, to: end)
            return Self.page(of: positions, on: appHistory) { question.matches($0) }
        }
        return APIAnswer { json in
            json.beginArray("notificationHistory")
            for notification in found {
                json.element(raw: APIAnswer { $0.members(of: notification) }.body)
            }
            json.endArray()
            json.member("hasMore", next != nil)
            if let next {
                let pageToken = PageToken(
                    position: Int64(next), limit: end.milliseconds, issuedAt: call.now,
                    question: question.fingerprint)
                json.member("paginationToken", pageToken.text)
            }
        }
    }

    private func pageToken(
        _ text: String, of question: NotificationHistoryQuestion, in call: APICall
    ) throws -> PageToken {
        guard let pageToken = PageToken(text), pageToken.question == question.fingerprint else {
            throw APIFault(4_000_014)
        }
        let age = call.now.timeIntervalSince(Date(milliseconds: pageToken.issuedAt))
        if age > tokenLife || faults.strike(.expiredTokens, call.endpoint, now: call.now) != nil {
            throw APIFault(4_000_017)
        }
        return pageToken
    }

    /// Notifications of the window, from a position on.
    private static func positions(
        on appHistory: AppHistory, _ question: NotificationHistoryQuestion, from position: Int64?, to end: Date
    ) throws -> any Collection<Int> {
        let first = max(position.map(Int.init) ?? 0, appHistory.position(of: question.start))
        let window = first..<max(first, appHistory.position(of: end))
        guard let id = question.transactionId else { return window }
        guard let subscriber = appHistory.subscriber(ofTransaction: id) else { throw APIFault(4_040_010) }
        return subscriber.notifications.filter(window.contains)
    }

    /// - Returns: up to 20, and where the next page begins, if there is one.
    private static func page(
        of positions: any Collection<Int>, on appHistory: AppHistory, where matches: (SentNotification) -> Bool
    ) -> (found: [SentNotification], next: Int?) {
        var found: [SentNotification] = []
        for position in positions {
            let notification = appHistory[position]
            guard matches(notification) else { continue }
            if found.count == pageSize { return (found, position) }
            found.append(notification)
        }
        return (found, nil)
    }
}

extension JSONWriter {
    /// `signedPayload` and `sendAttempts`.
    mutating func members(of notification: SentNotification) {
        member("signedPayload", jws: notification.payload.jws)
        objects("sendAttempts", of: notification.attempts) { json, attempt in
            json.member("attemptDate", attempt.date.milliseconds)
            json.member("sendAttemptResult", attempt.result.rawValue)
        }
    }
}
