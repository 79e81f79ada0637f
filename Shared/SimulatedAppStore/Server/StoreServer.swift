import Foundation
import Hummingbird
import ServiceLifecycle

/// Serves the API and its control endpoints over HTTP.
struct StoreServer: Sendable {
    /// A larger request than any of Apple's is not read to its end.
    private static let bodyLimit = 1 << 20

    /// The connection of a request, so that a fault can close it.
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

    /// Serves while the body runs, and stops in order then: cancelling the server is a fatal error of its library when a client
    /// connects at that moment.
    /// - Parameters:
    ///   - port: 0 for a free one.
    ///   - body: gets the port; called once the server listens.
    /// - Throws: where the address is in use, and what the body throws.
    func answering<Success: Sendable>(
        on host: String, port: Int, _ body: @Sendable (Int) async throws -> Success
    ) async throws -> Success {
        let (ports, bound) = AsyncStream<Int>.makeStream()
        let application = Application(
            responder: CallbackResponder<Context> { request, context in try await respond(to: request, context) },
            configuration: .init(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { channel in bound.yield(channel.localAddress?.port ?? 0) },
            logger: ResponderServer.logger)
        let services = ServiceGroup(
            configuration: .init(services: [.init(service: application)], logger: ResponderServer.logger))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { bound.finish() }
                do { try await services.run() } catch {
                    throw SimulatorError("the API cannot be answered on \(host):\(port): is the port taken? (\(error))")
                }
            }
            var result: Result<Success, any Error> = .failure(SimulatorError("the API never listened"))
            for await port in ports {
                do { result = .success(try await body(port)) } catch { result = .failure(error) }
                await services.triggerGracefulShutdown()
            }
            try await group.waitForAll()
            return try result.get()
        }
    }

    private func respond(to request: Request, _ context: Context) async throws -> Response {
        let body = try await request.body.collect(upTo: Self.bodyLimit)
        var read = APIRequest(
            method: request.method.rawValue, target: request.uri.string,
            authorization: request.headers[.authorization], body: Array(body.readableBytesView))
        read.customerUserId = HTTPFields.Element.Name("adapty-customer-user-id").flatMap { request.headers[$0] }
        // Faults leave out their own control endpoints.
        if read.path.first == "simulator" { return Self.response(control.answer(to: read)) }
        let endpoint = Endpoint.find(method: read.method, path: api.place(of: read.path).path)?.0
        if let fault = api.faults.strike(.slow, endpoint, now: api.now()) {
            // The end of the run does not wait for a delayed answer.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: fault.delay) }
        }
        if api.faults.strike(.close, endpoint, now: api.now()) != nil {
            context.cutOff()
            return Response(status: .serviceUnavailable)
        }
        if read.path.first == OtherSystemAPI.root {
            if api.faults.strike(.error, nil, now: api.now()) != nil { return Response(status: .internalServerError) }
            let storm = api.faults.strike(.storm, nil, now: api.now())
            return Self.response(control.purchases.otherSystem.answer(to: read, storm: storm?.delay))
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
