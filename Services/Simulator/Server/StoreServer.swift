import Foundation
import Hummingbird
import StrictJSON

/// Puts the API and what steers it on a port.
struct StoreServer: Sendable {
    /// A request larger than any of Apple's is not read to its end.
    private static let bodyLimit = 1 << 20

    /// Where a request came in, so that it can be cut off.
    private struct Context: RequestContext {
        var coreContext: CoreRequestContextStorage
        let cutOff: @Sendable () -> Void

        init(source: ApplicationRequestContextSource) {
            coreContext = .init(source: source)
            let channel = source.channel
            cutOff = { channel.close(promise: nil) }
        }
    }

    let api: StoreAPI
    let control: ServerControl

    /// The server, to be run by the caller.
    /// - Parameter onPort: called with the port, which the system chose if it was 0.
    func application(
        host: String, port: Int, onPort: @escaping @Sendable (Int) -> Void
    ) -> some ApplicationProtocol {
        let responder = CallbackResponder<Context> { request, context in try await respond(to: request, context) }
        return Application(
            responder: responder, configuration: .init(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { channel in onPort(channel.localAddress?.port ?? 0) }, logger: ResponderServer.logger)
    }

    private func respond(to request: Request, _ context: Context) async throws -> Response {
        let body = try await request.body.collect(upTo: Self.bodyLimit)
        let read = APIRequest(
            method: request.method.rawValue, target: request.uri.string,
            authorization: request.headers[.authorization], body: Array(body.readableBytesView))
        // What steers the faults is not struck by them.
        if read.path.first == "simulator" { return Self.response(control.answer(to: read)) }
        let endpoint = Endpoint.find(method: read.method, path: api.place(of: read.path).path)?.0
        if let fault = api.faults.strike(.slow, endpoint, now: api.now()) { try await Task.sleep(for: fault.delay) }
        if api.faults.strike(.close, endpoint, now: api.now()) != nil {
            context.cutOff()
            return Response(status: .serviceUnavailable)
        }
        return Self.response(api.answer(to: read))
    }

    private static func response(_ answer: APIAnswer) -> Response {
        var headers = HTTPFields()
        if !answer.body.isEmpty { headers[.contentType] = "application/json" }
        if let date = answer.retryAfter { headers[.retryAfter] = String(date) }
        return Response(
            status: .init(code: answer.status), headers: headers,
            body: .init(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
}
