import Contracts
import Foundation
import StrictJSON

extension StoreAPI {
    /// Extend a Subscription Renewal Date.
    func extendRenewalDate(_ call: APICall) throws -> APIAnswer {
        let order = try ExtensionOrder(try call.json())
        guard APICall.isTransactionId(call.id) else { throw APIFault(4_000_008) }
        let known = historyStore.withHistory(of: call.app) { $0.subscriber(call.id) }
        guard let known else { throw APIFault(4_040_005) }
        guard known.newest.customer?.ownership == .purchased else { throw APIFault(4_030_007) }
        guard known.newest.status == 1 else { throw APIFault(4_030_004) }
        guard historyStore.withHistory(of: call.app, { $0.mayExtend(call.id, now: call.now) }) else {
            throw APIFault(4_030_005)
        }
        guard let event = extend([known], byDays: order.days, now: call.now)[0], let purchase = event.purchase else {
            throw APIFault(4_030_004)
        }
        return APIAnswer {
            $0.member("originalTransactionId", purchase.originalTransactionId)
            if let item = purchase.webOrderLineItemId { $0.member("webOrderLineItemId", item) }
            $0.member("success", true)
            if let end = purchase.expiresDate { $0.member("effectiveDate", end.milliseconds) }
        }
    }

    /// Extend Subscription Renewal Dates for All Active Subscribers: a notification each, then the summary.
    func massExtendRenewalDate(_ call: APICall) throws -> APIAnswer {
        let json = try call.json()
        let order = try ExtensionOrder(json)
        guard let productId = json["productId"]?.string, !productId.isEmpty else { throw APIFault(4_000_023) }
        let storefronts = try Self.storefronts(json["storefrontCountryCodes"])
        let key = MassExtension.Key(productId: productId, requestIdentifier: order.requestIdentifier)
        guard historyStore.withHistory(of: call.app, { $0.massExtensions[key] }) == nil else {
            throw APIFault(4_000_011)
        }
        let (allowed, rejected) = historyStore.withHistory(of: call.app) { appHistory in
            let concerned = appHistory.allSubscribers.filter { subscriber in
                let newest = subscriber.current
                return newest.status == 1 && newest.purchase?.product.id(in: call.app.bundleId) == productId
                    && (storefronts?.contains(newest.customer?.storefront.country ?? "") ?? true)
            }
            let allowed = concerned.filter { appHistory.mayExtend($0.originalTransactionId, now: call.now) }
            return (allowed, concerned.filter { !appHistory.mayExtend($0.originalTransactionId, now: call.now) })
        }
        let succeeded = extend(allowed, byDays: order.days, now: call.now).count { $0 != nil }
        let failed = rejected.count + allowed.count - succeeded
        let summary = order.summary(
            of: call.app, productId: productId, storefronts: storefronts, succeeded: succeeded, failed: failed)
        let date = present()
        let uuid = deliveryService.withOutbox { outbox in
            outbox.announce(.extensionFailure, about: rejected.map(\.current))
            let event = EventPayload(
                uuid: outbox.uuid(), kind: .extensionSummary, app: call.app, signedDate: date,
                object: .summary(summary))
            outbox.post(event)
            return event.uuid
        }
        historyStore.withHistory(of: call.app) {
            $0.massExtensions[key] = MassExtension(
                summary: uuid.uuidString.lowercased(), succeeded: succeeded, failed: failed)
        }
        return APIAnswer { $0.member("requestIdentifier", order.requestIdentifier) }
    }

    /// Get Status of Subscription Renewal Date Extensions: complete when the summary has been sent.
    func massExtensionStatus(_ call: APICall) throws -> APIAnswer {
        let key = MassExtension.Key(productId: call.arguments[0], requestIdentifier: call.arguments[1])
        let (found, completion) = historyStore.withHistory(of: call.app) { appHistory in
            let found = appHistory.massExtensions[key]
            return (found, found.flatMap { appHistory.notification(uuid: $0.summary) }?.attempts.first?.date)
        }
        guard let found else { throw APIFault(4_040_009) }
        return APIAnswer {
            $0.member("requestIdentifier", key.requestIdentifier)
            $0.member("complete", completion != nil)
            guard let completion else { return }
            $0.member("completeDate", completion.milliseconds)
            $0.member("succeededCount", found.succeeded)
            $0.member("failedCount", found.failed)
        }
    }

    private func extend(_ subscribers: [Subscriber], byDays days: Int, now: Date) -> [EventPayload?] {
        let date = present()
        let events = deliveryService.withOutbox { $0.extend(subscribers.map(\.current), byDays: days, now: date) }
        for case let event? in events {
            historyStore.note(event)
            guard let id = event.purchase?.originalTransactionId else { continue }
            historyStore.withHistory(of: event.app) { appHistory in appHistory.change(id) { $0.extensions.append(now) }
            }
        }
        return events
    }

    private static func storefronts(_ value: JSONValue?) throws -> Set<String>? {
        guard let value, !value.isNull else { return nil }
        let codes = value.elements.compactMap(\.string)
        guard value.kind == .array, codes.count == value.elements.count else { throw APIFault(4_000_028) }
        guard !codes.isEmpty else { throw APIFault(4_000_027) }
        guard codes.allSatisfy({ $0.utf8.count == 3 && $0 == $0.uppercased() }) else { throw APIFault(4_000_028) }
        return Set(codes)
    }
}
