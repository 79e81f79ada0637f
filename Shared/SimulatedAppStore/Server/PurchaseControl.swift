import Contracts
import Foundation
import StrictJSON

/// Endpoints by which a person buys and lets things happen: `/simulator/products`, `/simulator/purchases`, `/simulator/clock`,
/// `/simulator/exports`.
struct PurchaseControl: Sendable {
    /// Of the run.
    let apps: [App]
    let catalogue: Catalogue
    let historyStore: HistoryStore
    let deliveryService: DeliveryService
    let signer: NotificationSigner
    /// Of the developers' servers, which sign offers.
    let keys: KeyRing
    /// The simulated present, at which purchases are made.
    let present: @Sendable () -> Date
    /// The time of day.
    let now: @Sendable () -> Date
    /// Nil where the present is given, so that it cannot move.
    let clock: SimulatedClock?
    /// Answers from the exports.
    let otherSystem = OtherSystemAPI()

    /// - Parameter path: from `products`, `purchases`, `clock` or `exports` on.
    /// - Returns: nil where there is no such endpoint.
    /// - Throws: ``SimulatorError`` that says what exists where the request names what does not.
    func answer(to request: APIRequest, _ path: [String]) throws -> APIAnswer? {
        switch (request.method, path) {
        case ("GET", ["products"]): products()
        case ("GET", ["clock"]): showClock()
        case ("POST", ["clock"]): try advance(request.body)
        case ("POST", ["exports"]): try export(request.body)
        case ("GET", ["purchases"]): try list()
        case ("POST", ["purchases"]): try buy(request.body)
        case ("GET", let path) where path.count == 2 && path[0] == "purchases":
            try show(path[1], for: request.parameter("device"))
        case ("POST", let path) where path.count == 3 && path[0] == "purchases" && path[2] == "events":
            try trigger(path[1], request.body)
        default: nil
        }
    }

    private func products() -> APIAnswer {
        APIAnswer { json in
            json.beginArray("products")
            for bundleId in Self.unique(apps.map(\.bundleId)) {
                for product in catalogue.products(in: bundleId) {
                    json.beginObject()
                    json.member("bundleId", bundleId)
                    json.member("productId", product.id(in: bundleId))
                    json.member("type", product.kind.typeName)
                    if let group = product.group { json.member("subscriptionGroupIdentifier", group) }
                    if let period = product.period { json.member("period", period.rawValue) }
                    json.member("price", product.price)
                    json.endObject()
                }
            }
            json.endArray()
        }
    }

    private func showClock() -> APIAnswer {
        let (waiting, sent) = deliveryService.withOutbox { ($0.waitingOfCommands, $0.sentOfCommands) }
        return APIAnswer { json in
            json.member("now", present().milliseconds)
            json.member("aheadMilliseconds", clock?.milliseconds ?? 0)
            json.member("waiting", waiting)
            json.member("sent", sent)
        }
    }

    private func advance(_ body: [UInt8]) throws -> APIAnswer {
        let text = try Self.text("advance", of: try Self.object(body, ["advance"])) ?? ""
        guard let seconds = SimulatedClock.seconds(text) else {
            throw SimulatorError("advance is \(text), and no duration such as 31d, 12h, 90m or 1d12h")
        }
        guard let clock else { throw SimulatorError("the clock was fixed by --now and cannot move") }
        try clock.advance(by: seconds)
        let date = present()
        deliveryService.withOutbox { $0.bringTimeUpTo(date) }
        return showClock()
    }

    private func list() throws -> APIAnswer {
        let all = deliveryService.withOutbox { $0.manualPurchases.all }
        return try APIAnswer { json in
            json.beginArray("purchases")
            for purchase in all { json.element(raw: try description(of: purchase, isWhole: false).body) }
            json.endArray()
        }
    }

    /// - Parameter device: StoreKit's `deviceVerificationID` of the device to which the signed texts are handed.
    private func show(_ id: String, for device: String?) throws -> APIAnswer {
        let device = try device.map { text in
            guard let device = UUID(uuidString: text) else { throw SimulatorError("device \(text) is no UUID") }
            return device
        }
        let purchase = try deliveryService.withOutbox { try $0.manualPurchases.purchase(id) }
        return try description(of: purchase, isWhole: true, for: device)
    }

    private func buy(_ body: [UInt8]) throws -> APIAnswer {
        let root = try Self.object(
            body,
            [
                "productId", "bundleId", "environment", "appAccountToken", "isFamilyShared", "promotionalOffer",
                "introductoryEligibility", "offerCode", "hasPreordered", "sandboxAccount",
            ])
        guard let name = try Self.text("productId", of: root) else {
            throw SimulatorError(
                "productId is missing: name the product that is bought; `simulator products` lists them")
        }
        let app = try app(bundleId: Self.text("bundleId", of: root), environment: Self.text("environment", of: root))
        let isFamilyShared = root["isFamilyShared"]?.bool ?? false
        let token = try Self.text("appAccountToken", of: root).map { text in
            guard let token = UUID(uuidString: text) else {
                throw SimulatorError(
                    "appAccountToken \(text) is no UUID, and Apple takes no other; `cat /proc/sys/kernel/random/uuid` prints one"
                )
            }
            return token
        }
        if isFamilyShared, token != nil {
            throw SimulatorError("Apple names no account in what a family member shares: leave out the account")
        }
        let product = try catalogue.product(name, in: app.bundleId)
        let buyer = ManualPurchases.Buyer(
            app: app, appAccountToken: token,
            catalogue: catalogue.isOwn(app) ? catalogue.products(in: app.bundleId) : [],
            isFamilyShared: isFamilyShared, hasPreordered: root["hasPreordered"]?.bool ?? false,
            quirk: try Self.text("sandboxAccount", of: root).map { try quirk($0, in: app) })
        let offer = try signedOffer(of: root, product, buyer)
        let offerCode = try Self.text("offerCode", of: root)
        let date = present()
        return answer(
            about: try deliveryService.withOutbox {
                try $0.buy(product, for: buyer, with: offer, offerCode: offerCode, at: date)
            })
    }

    private func signedOffer(
        of root: JSONValue, _ product: Product, _ buyer: ManualPurchases.Buyer
    ) throws -> SignedOffer? {
        let check = OfferCheck(keys: keys)
        let promotional = root["promotionalOffer"].flatMap { $0.isNull ? nil : $0 }
        guard let jws = try Self.text("introductoryEligibility", of: root) else {
            return try promotional.map { try check.offer($0, of: product, for: buyer, now: now()) }
        }
        guard promotional == nil else {
            throw SimulatorError("a purchase has one offer: leave out promotionalOffer or introductoryEligibility")
        }
        return try check.introductoryEligibility(jws, of: product, for: buyer, now: now())
    }

    private func quirk(_ name: String, in app: App) throws -> Customer.SandboxQuirk {
        guard let quirk = Customer.SandboxQuirk.named[name] else {
            let names = Customer.SandboxQuirk.named.keys.sorted().joined(separator: " and ")
            throw SimulatorError("no sandbox account is \(name): there are \(names)")
        }
        guard app.environment == .sandbox else {
            throw SimulatorError("only an account of the sandbox is \(name): leave it out, or buy in the sandbox")
        }
        return quirk
    }

    private func trigger(_ id: String, _ body: [UInt8]) throws -> APIAnswer {
        let root = try Self.object(body, ["notificationType", "subtype", "productId", "offerCode"])
        guard let type = try Self.text("notificationType", of: root) else {
            throw SimulatorError("notificationType is missing: name one of Apple's types, such as DID_RENEW")
        }
        let subtype = try Self.text("subtype", of: root)
        let name = try Self.text("productId", of: root)
        let offerCode = try Self.text("offerCode", of: root)
        let date = present()
        let event = try deliveryService.withOutbox { outbox in
            let product = try name.map { name in
                let bundleId = try outbox.manualPurchases.purchase(id).customer.app.bundleId
                return try catalogue.product(name, in: bundleId)
            }
            return try outbox.trigger(
                type, subtype: subtype, purchase: id, product: product, offerCode: offerCode, at: date)
        }
        // At its limit the clock stays behind by no more than a minute.
        let ahead = event.signedDate.timeIntervalSince(date)
        if ahead >= 1 { try? clock?.advance(by: ahead) }
        return answer(about: event)
    }

    /// What a command answers: the notification that is sent, and its purchase.
    private func answer(about event: EventPayload) -> APIAnswer {
        APIAnswer(status: 201) { json in
            json.member("notificationUUID", event.uuid.uuidString.lowercased())
            json.member("notificationType", event.kind.type.rawValue)
            if let subtype = event.kind.subtype { json.member("subtype", subtype.rawValue) }
            json.member("signedDate", event.signedDate.milliseconds)
            json.member("bundleId", event.app.bundleId)
            json.member("environment", event.app.environment.rawValue)
            guard let purchase = event.purchase else { return }
            json.member("originalTransactionId", purchase.originalTransactionId)
            json.member("transactionId", purchase.transactionId)
            // Apple has orders in production only.
            if event.app.environment == .production {
                json.member("orderId", OrderNumber(transactionId: purchase.transactionId).text)
            }
            json.member("productId", purchase.product.id(in: event.app.bundleId))
            if let token = event.customer?.appAccountToken {
                json.member("appAccountToken", token.uuidString.lowercased())
            }
            if let end = purchase.expiresDate { json.member("expiresDate", end.milliseconds) }
            if let offer = (event.renewal?.nextOffer ?? purchase.offer)?.identifier {
                json.member("offerIdentifier", offer)
            }
        }
    }

    /// - Parameter isWhole: with the signed transaction, as StoreKit hands it to the app, and what was sent.
    private func description(
        of purchase: SimulatedPurchase, isWhole: Bool, for device: UUID? = nil
    ) throws -> APIAnswer {
        let app = purchase.customer.app
        return try APIAnswer { json in
            json.member("bundleId", app.bundleId)
            json.member("environment", app.environment.rawValue)
            if let token = purchase.customer.appAccountToken {
                json.member("appAccountToken", token.uuidString.lowercased())
            }
            guard let newest = purchase.purchase else { return }
            json.member("originalTransactionId", newest.originalTransactionId)
            json.member("transactionId", newest.transactionId)
            json.member("productId", newest.product.id(in: app.bundleId))
            if let end = newest.expiresDate { json.member("expiresDate", end.milliseconds) }
            json.member("state", purchase.summary(at: present()))
            json.strings("possible", of: purchase.possible(at: present()))
            guard isWhole else { return }
            let (subscriber, sent) = historyStore.withHistory(of: app) { history in
                let subscriber = history.subscriber(newest.originalTransactionId)
                return (subscriber, subscriber?.notifications.map { history[$0] } ?? [])
            }
            if let subscriber {
                json.member("signedTransactionInfo", jws: try signer.sign(newest, in: subscriber.newest, for: device))
                let app = PayloadBuilder.appTransaction(of: subscriber.newest)
                json.member("signedAppTransactionInfo", jws: try signer.sign(app, for: device))
            }
            json.objects("notifications", of: sent) { json, notification in
                json.member("notificationUUID", notification.uuid)
                json.member("notificationType", notification.kind.type.rawValue)
                if let subtype = notification.kind.subtype { json.member("subtype", subtype.rawValue) }
                json.member("firstAttempt", notification.firstAttempt.milliseconds)
                if let last = notification.attempts.last { json.member("sendAttemptResult", last.result.rawValue) }
            }
        }
    }

    /// The app of a request: without a bundle id the first, without an environment the sandbox where the app is in it.
    func app(bundleId: String?, environment: String?) throws -> App {
        let names = Self.unique(apps.map(\.bundleId))
        let bundleId = bundleId ?? names[0]
        guard names.contains(bundleId) else {
            throw SimulatorError("no app \(bundleId) is simulated; there are \(names.joined(separator: ", "))")
        }
        let environments = apps.filter { $0.bundleId == bundleId }.map(\.environment)
        let wanted =
            environment ?? (environments.contains(.sandbox) ? StoreEnvironment.sandbox : environments[0]).rawValue
        guard let app = apps.first(where: { $0.bundleId == bundleId && $0.environment.rawValue == wanted }) else {
            throw SimulatorError(
                "\(bundleId) is not simulated in \(wanted), but in "
                    + environments.map(\.rawValue).joined(separator: ", "))
        }
        return app
    }

    private static func unique(_ names: [String]) -> [String] {
        var known: [String] = []
        for name in names where !known.contains(name) { known.append(name) }
        return known
    }

    static func object(_ body: [UInt8], _ members: [String]) throws -> JSONValue {
        guard let root = try? JSONDocument(body).root, root.kind == .object else {
            throw SimulatorError("the body is no JSON object; its members are \(members.joined(separator: ", "))")
        }
        for (name, _) in root.members where !members.contains(name) {
            throw SimulatorError("there is no member \(name); the members are \(members.joined(separator: ", "))")
        }
        return root
    }

    static func text(_ name: String, of root: JSONValue) throws -> String? {
        guard let value = root[name], !value.isNull else { return nil }
        guard let text = value.string, !text.isEmpty else {
            throw SimulatorError("\(name) must be a text that is not empty")
        }
        return text
    }
}

extension Product.Kind {
    /// Apple's `type`.
    var typeName: String {
        switch self {
        case .autoRenewable: "Auto-Renewable Subscription"
        case .nonRenewing: "Non-Renewing Subscription"
        case .nonConsumable: "Non-Consumable"
        case .consumable: "Consumable"
        case .unknown: "Unknown"
        }
    }
}
