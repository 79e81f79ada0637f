import NIOCore
import NIOPosix
import Synchronization

/// Takes connections at an address of this machine and counts them, whatever comes over them: one that begins with TLS becomes no
/// request that a receiver of HTTP sees. Answers the first bytes with 204, or as told.
final class ConnectionListener: Sendable {
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let listener: ConnectionListener
        private var hasAnswered = false

        init(_ listener: ConnectionListener) { self.listener = listener }

        func channelActive(context: ChannelHandlerContext) {
            listener.peers.withLock { $0.append(context.remoteAddress?.port ?? 0) }
            context.fireChannelActive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !hasAnswered else { return }
            hasAnswered = true
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: listener.answer)), promise: nil)
        }
    }

    private let peers = Mutex<[Int]>([])
    private let answer: String

    private init(answering answer: String) { self.answer = answer }

    /// Listens at any port while the body runs.
    /// - Parameter answer: the bytes of the answer.
    static func listening(
        at host: String, answering answer: String = "HTTP/1.1 204 No Content\r\n\r\n",
        _ body: (ConnectionListener, _ port: Int) async throws -> Void
    ) async throws {
        let listener = ConnectionListener(answering: answer)
        // On one loop, which takes connections in the order in which they were made.
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(listener))
                }
            }
            .bind(host: host, port: 0).get()
        do {
            try await body(listener, server.localAddress?.port ?? 0)
        } catch {
            try? await server.close()
            throw error
        }
        try await server.close()
    }

    /// How many connections were made before. Makes one itself, behind which none of them can still be unseen.
    func count(at host: String, port: Int) async throws -> Int {
        let own = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(
            host: host, port: port
        )
        .get()
        let mark = own.localAddress?.port ?? 0
        while !peers.withLock({ $0.contains(mark) }) { await Task.yield() }
        try await own.close()
        return peers.withLock { $0.firstIndex(of: mark) ?? 0 }
    }
}
