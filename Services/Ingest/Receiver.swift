import Chassis
import Contracts
import Hummingbird

import struct Foundation.Date

/// The HTTP server that Apple posts to.
struct Receiver: Service {
    /// The one path; everything else is answered 404.
    static let path = "/v1/notifications"

    let address: ListenAddress
    let limits: Limits
    let log: NotificationLog
    let tally: Tally
    let tracing: Tracing
    let clock: ProcessClock
    let logger: Logger
    /// Told the port when connections are accepted.
    let onListening: @Sendable (Int) -> Void

    func run() async throws {
        // The server's own news, a line for each request included, is for those who debug it.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in await answer(request) },
            server: .http1(configuration: .init(idleTimeout: .nanoseconds(Int64(limits.reading / .nanoseconds(1))))),
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port), serverName: nil, backlog: 1024,
                availableConnectionsDelegate: .maximum(limits.connections, logger: quiet)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? address.port
                logger.info("Receiving notifications", metadata: ["address": "\(address.host)", "port": "\(port)"])
                onListening(port)
            },
            logger: quiet)
        do {
            try await application.run()
        } catch {
            throw CannotListen(address: address, cause: error)
        }
    }

    /// The whole way of a request, in the order in which it can fail.
    private func answer(_ request: Request) async -> Response {
        var reader = RequestReader(request.body, limits: limits, instant: clock.instant)
        if let refusal = Self.refusal(of: request.head, limits: limits) {
            return await refuse(refusal, request, &reader)
        }
        let body: [UInt8]
        switch await reader.read() {
        case .complete(let bytes): body = bytes
        case .tooLarge: return await refuse(.tooLarge(limit: limits.body), request, &reader)
        case .tooSlow: return await refuse(.tooSlow, request, &reader)
        case .broken: return hangUp(status: 400)
        }
        let arrived = clock.instant()
        switch Receive().decide(body) {
        case .refuse(let refusal):
            return await refuse(refusal, request, &reader)
        case .accept(let signedPayload):
            let step = tracing.step(of: request)
            let notification = ReceivedNotification(
                signedPayload: signedPayload, source: .webhook, receivedAt: clock.now(),
                traceparent: step.own.traceparent)
            let refusal = await log.append(notification)
            tracing.finished(
                step, from: notification.receivedAt, to: clock.now(), status: refusal?.status ?? 200, path: Self.path)
            if let refusal { return await refuse(refusal, request, &reader) }
            tally.accepted(after: arrived.duration(to: clock.instant()))
            return Response(status: .ok)
        }
    }
}

struct CannotListen: Error, CustomStringConvertible {
    let address: ListenAddress
    let cause: any Error

    var description: String {
        "notifications cannot be received on \(address) (\(cause)); is the port taken? Set STOREKEEPER_INGEST_ADDRESS"
    }
}
