import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import SimulatedAppStore

@Suite(.hangLimit) struct TargetTests {
    /// Answers the first request, and resets the connection at the second.
    private final class ResettingReceiver: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let requests = Mutex(0)

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard String(buffer: unwrapInboundIn(data)).hasPrefix("POST") else { return }
            let number = requests.withLock {
                $0 += 1
                return $0
            }
            if number == 1 {
                let answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
            } else {
                context.close(promise: nil)
            }
        }
    }

    @Test func `A reset connection was closed before the answer, and a refused one was none`() async throws {
        let receiver = ResettingReceiver()
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                // Closing resets.
                (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                    .flatMap { channel.pipeline.addHandler(receiver) }
                    ?? channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let client = Target.client(concurrency: 1)
        let target = Target(client: client, url: "http://127.0.0.1:\(port)/v1/notifications", timeout: .seconds(20))
        #expect(await target.post([]).status == 200)
        #expect(await target.post([]).failure == "closed before the answer")
        try await server.close()
        #expect(await target.post([]).failure == "no connection")
        try await client.shutdown()
    }
}
