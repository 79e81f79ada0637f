import Chassis
import Hummingbird
import NIOCore

/// The HTTP server that browsers talk to.
struct ConsoleServer: Service {
    let address: ListenAddress
    let connections: ConnectionTable
    let responder: Responder
    let logger: Logger
    /// Told the port when connections are accepted.
    let onListening: @Sendable (Int) -> Void

    func run() async throws {
        let listener = HTTPListener(
            address: address, variable: "STOREKEEPER_CONSOLE_ADDRESS", purpose: "browsers cannot connect to",
            announcement: "Serving the console", logger: logger, onListening: onListening)
        let (responder, connections) = (responder, connections)
        async let sweeping: Void = connections.sweepAlways()
        try await listener.run(
            CallbackResponder<PeerContext> { request, context in
                let channel = context.channel
                connections.begins(channel)
                let answer = await responder.answer(request, peer: context.peer) { connections.isKnown(channel) }
                // No stream of the answer to HEAD is written, so none would end.
                let body = connections.ends(channel, with: request.method == .head ? .bytes([]) : answer.body)
                var response = body.response(status: answer.status, headers: answer.headers, to: request)
                if answer.headers[.connection] == "close" {
                    let body = response.body
                    response.body = ResponseBody(contentLength: body.contentLength) { writer in
                        try await body.write(writer)
                        context.close(after: responder.bodyTimeout)
                    }
                }
                return response
            },
            connection: .init(
                additionalChannelHandlers: [ConnectionObserver(connections)], idleTimeout: .seconds(120)),
            // A proxy in front may add its own cookies and tokens.
            longestHead: 64 << 10, maximumConnections: connections.accepted)
        await sweeping
    }
}

/// Knows the other end of the connection.
struct PeerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let peer: String?
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.channel.remoteAddress?.ipAddress
        channel = source.channel
    }

    /// Closes the connection once the client had time to read the answer: Hummingbird awaits the rest of a body for as
    /// long as parts of it come.
    func close(after time: Duration) {
        // Behind the answer, which is written on the event loop too.
        channel.eventLoop.execute { [channel] in
            channel.eventLoop.scheduleTask(in: TimeAmount(time)) { channel.close(promise: nil) }
        }
    }
}
