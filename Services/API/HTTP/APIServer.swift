import Chassis
import Hummingbird

/// The HTTP server that app backends ask.
struct APIServer: Service {
    let address: ListenAddress
    let idleTimeout: Duration
    let maximumConnections: Int
    let service: APIService
    let logger: Logger
    /// Told the port when connections are accepted.
    let onListening: @Sendable (Int) -> Void

    func run() async throws {
        // A line for each request is for those who debug the server.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let service = service
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in
                Self.response(await service.answer(request), to: request)
            },
            server: .http1(
                configuration: .init(idleTimeout: .nanoseconds(Int64(idleTimeout / .nanoseconds(1))))),
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port), serverName: nil, backlog: 1024,
                availableConnectionsDelegate: .maximum(maximumConnections, logger: quiet)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? address.port
                logger.info("Answering requests", metadata: ["address": "\(address.host)", "port": "\(port)"])
                onListening(port)
            },
            logger: quiet)
        do {
            try await application.run()
        } catch {
            throw CannotListen(address: address, cause: error)
        }
    }

    private static func response(_ answer: APIResponse, to request: Request) -> Response {
        let status = HTTPResponse.Status(code: answer.status)
        switch answer.body {
        case .stream(let write):
            return Response(
                status: status, headers: answer.headers,
                body: ResponseBody { writer in
                    try await write(&writer)
                    try await writer.finish(nil)
                })
        case .bytes(let bytes):
            // The answer to HEAD has no body; what followed would be taken for the next answer.
            let buffer = request.method == .head ? ByteBuffer() : ByteBuffer(bytes: bytes)
            return Response(status: status, headers: answer.headers, body: ResponseBody(byteBuffer: buffer))
        }
    }
}

struct CannotListen: Error, CustomStringConvertible {
    let address: ListenAddress
    let cause: any Error

    var description: String {
        "requests cannot be received on \(address) (\(cause)); is the port taken? Set STOREKEEPER_API_ADDRESS"
    }
}
