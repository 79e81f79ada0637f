import AppStore
import Chassis
import Contracts
import Hummingbird

import struct Foundation.Date

/// The HTTP server that receives Apple's notifications.
struct Receiver: Service {
    /// The only path; others are answered 404.
    static let path = "/v1/notifications"

    let address: ListenAddress
    let limits: Limits
    let budget: BodyBudget
    let shares: AddressShares
    let producer: NotificationProducer
    let tally: Tally
    let tracing: RequestTracing
    let clock: ProcessClock
    let logger: Logger
    /// Called with the port when connections are accepted.
    let onListening: @Sendable (Int) -> Void

    func run() async throws {
        let connections = AddressShares(places: limits.connections, share: limits.addressShare)
        let limits = limits
        let listener = HTTPListener(
            address: address, variable: "STOREKEEPER_INGEST_ADDRESS", purpose: "notifications cannot be received on",
            announcement: "Receiving notifications", logger: logger, onListening: onListening)
        try await listener.run(
            CallbackResponder<ConnectionContext> { request, context in
                await answer(request, from: context.peer)
            },
            connection: .init(
                additionalChannelHandlers: [ConnectionGuard(deadline: limits.reading, shares: connections)],
                idleTimeout: .nanoseconds(Int64(limits.reading / .nanoseconds(1)))),
            backlog: 1024, maximumConnections: limits.connections)
    }

    private func answer(_ request: Request, from peer: String?) async -> Response {
        var reader = RequestReader(request.body, limits: limits, instant: clock.instant)
        if let rejection = Self.rejection(of: request.head, limits: limits) {
            return await reject(rejection, request, &reader)
        }
        let source = SourceAddress.of(
            peer: peer, forwardedFor: request.headers.last { $0.name.canonicalName == "x-forwarded-for" }?.value)
        guard let source else { return await receive(request, &reader) }
        guard shares.enter(source) else { return await reject(.addressShare, request, &reader) }
        defer { shares.leave(source) }
        return await receive(request, &reader)
    }

    /// Handles a request; its checks are in the order in which they can fail.
    private func receive(_ request: Request, _ reader: inout RequestReader) async -> Response {
        let received = budget.begin()
        defer { received.release() }
        let body: [UInt8]
        switch await reader.read(into: received) {
        case .complete(let bytes): body = bytes
        case .tooLarge: return await reject(.tooLarge(limit: limits.body), request, &reader)
        case .tooSlow: return await reject(.tooSlow, request, &reader)
        case .overBudget: return await reject(.tooManyBytes, request, &reader)
        case .broken: return hangUp(status: 400)
        }
        let arrived = clock.instant()
        let signedPayload: [UInt8]
        do throws(NotificationBody.Fault) {
            signedPayload = try NotificationBody(body).signedPayload
        } catch {
            return await reject(.body(error), request, &reader)
        }
        let step = tracing.begin()
        let notification = ReceivedNotification(
            signedPayload: signedPayload, source: .webhook, receivedAt: clock.now(), traceparent: step.traceparent)
        let rejection = await producer.append(notification)
        tracing.finished(
            step, from: notification.receivedAt, to: clock.now(), status: rejection?.status ?? 200, path: Self.path)
        if let rejection { return await reject(rejection, request, &reader) }
        tally.accepted(after: arrived.duration(to: clock.instant()))
        return Response(status: .ok)
    }
}

/// What is known of the connection of a request.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The peer's address, without its port.
    let peer: String?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.channel.remoteAddress?.ipAddress
    }
}
