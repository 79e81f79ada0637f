import Contracts
import Foundation

/// The App Store Server API, answered from the history. Without HTTP, which is in ``StoreServer``.
struct StoreAPI: Sendable {
    /// Maximum number of records of a page, Apple's.
    static let pageSize = 20

    let apps: [App]
    let historyStore: HistoryStore
    let deliveryService: DeliveryService
    let signer: NotificationSigner
    let keys: KeyRing
    let limits: RateLimits
    let faults: FaultList
    /// What developers told about refund requests.
    var answers = RefundAnswers()
    /// What developers reported about external purchase tokens.
    var externalPurchases = ExternalPurchaseReports()
    /// The requests of Advanced Commerce that were done.
    var commerceReferences = CommerceReferences()
    /// What developers configured for customers who are about to cancel.
    var retention = RetentionMessageContents()
    /// Lifetime of a paginationToken, seconds; Apple documents none.
    let tokenLife: TimeInterval
    /// The simulated present: notifications that a request orders are signed then.
    let present: @Sendable () -> Date
    /// The time for tokens, limits and windows of history, which a command moves forward.
    let now: @Sendable () -> Date
    /// The real time. A client that does not follow the simulator's clock dates its tokens by it.
    let timeOfDay: @Sendable () -> Date
    /// Called with the reason for which a token was refused.
    let refused: @Sendable (String) -> Void

    /// Answers a request.
    func answer(to request: APIRequest) -> APIAnswer {
        let now = now()
        let (environment, path) = place(of: request.path)
        guard let (endpoint, arguments) = Endpoint.find(method: request.method, path: path) else { return .notFound }
        var app: App
        do { app = try self.app(of: request, now: now) } catch {
            refused("\(request.method) /\(request.path.joined(separator: "/")) was answered 401: \(error)")
            return .unauthorized
        }
        app.environment = environment
        if let storm = faults.strike(.storm, endpoint, now: now) {
            return .tooManyRequests(until: now.addingTimeInterval(storm.delay.milliseconds / 1000))
        }
        if let fault = faults.strike(.error, endpoint, now: now) { return APIAnswer(APIFault(fault.errorCode)) }
        if let date = limits.take(endpoint, of: app, now: now) { return .tooManyRequests(until: date) }
        let call = APICall(app: app, endpoint: endpoint, arguments: arguments, request: request, now: now)
        do { return try answer(to: call) } catch let fault as APIFault {
            return APIAnswer(fault)
        } catch {
            // Only signing can fail here.
            return APIAnswer(APIFault(5_000_000))
        }
    }

    /// - Throws: ``SimulatorError`` with the reason to refuse its token.
    private func app(of request: APIRequest, now: Date) throws -> App {
        let bundleId = try TokenCheck(keys: keys).bundleId(
            authorization: request.authorization, at: [now, timeOfDay()])
        guard let app = apps.first(where: { $0.bundleId == bundleId }) else {
            throw SimulatorError("bid of the token, \(bundleId), is none of the simulated apps")
        }
        return app
    }

    private func answer(to call: APICall) throws -> APIAnswer {
        switch call.endpoint {
        case .massExtendRenewalDate: try massExtendRenewalDate(call)
        case .massExtensionStatus: try massExtensionStatus(call)
        case .extendRenewalDate: try extendRenewalDate(call)
        case .subscriptionStatuses: try subscriptionStatuses(call)
        case .refundHistory: try refundHistory(call)
        case .transactionHistory, .transactionHistoryWithoutFinishedConsumables: try transactionHistory(call)
        case .appTransactionInfo: try appTransactionInfo(call)
        case .finishTransaction: try finishTransaction(call)
        case .setAppAccountToken: try setAppAccountToken(call)
        case .transactionInfo: try transactionInfo(call)
        case .sendConsumption: try sendConsumption(call)
        case .sendConsumptionVersion1: try sendConsumptionVersion1(call)
        case .lookUpOrder: try lookUpOrder(call)
        case .requestTestNotification: try requestTestNotification(call)
        case .testNotificationStatus: try testNotificationStatus(call)
        case .notificationHistory: try notificationHistory(call)
        case .sendExternalPurchaseReport: try sendExternalPurchaseReport(call)
        case .externalPurchaseReport: try externalPurchaseReport(call)
        case .uploadRetentionImage: try uploadRetentionImage(call)
        case .deleteRetentionImage: try deleteRetentionImage(call)
        case .retentionImages: retentionImages(call)
        case .uploadRetentionMessage: try uploadRetentionMessage(call)
        case .deleteRetentionMessage: try deleteRetentionMessage(call)
        case .retentionMessages: retentionMessages(call)
        case .setDefaultRetentionMessage: try setDefaultRetentionMessage(call)
        case .deleteDefaultRetentionMessage: try deleteDefaultRetentionMessage(call)
        case .defaultRetentionMessage: try defaultRetentionMessage(call)
        case .setRealtimeURL: try setRealtimeURL(call)
        case .deleteRealtimeURL: try deleteRealtimeURL(call)
        case .realtimeURL: try realtimeURL(call)
        case .startPerformanceTest: try startPerformanceTest(call)
        case .performanceTest: try performanceTest(call)
        case .cancelSubscription, .revokeSubscription, .changeSubscriptionPrice, .changeSubscriptionMetadata,
            .migrateSubscription, .requestRefund:
            try advancedCommerce(call)
        }
    }

    /// Apple has a host for each environment; here the first component names it. Without one it is that of the run, production
    /// if the run has several.
    func place(of path: [String]) -> (StoreEnvironment, path: [String]) {
        switch path.first {
        case "production": return (.production, Array(path.dropFirst()))
        case "sandbox": return (.sandbox, Array(path.dropFirst()))
        default:
            let environments = Set(apps.map(\.environment))
            return (environments.count == 1 ? apps[0].environment : .production, path)
        }
    }
}
