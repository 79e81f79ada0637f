import NIOCore

/// Closes a connection whose client does not read its answers, or whose address has its share already.
///
/// The server's idle timeout covers neither: an answer that cannot be written counts as a request in progress.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias OutboundIn = Any

    private let deadline: TimeAmount
    private let shares: AddressShares
    private var address: String?
    private var unwritten = 0
    /// When the client last read something, or the first of what it has not read yet was written.
    private var progress = NIODeadline.now()
    private var isWatching = false

    init(writeDeadline: Duration, shares: AddressShares) {
        deadline = TimeAmount(writeDeadline)
        self.shares = shares
    }

    func channelActive(context: ChannelHandlerContext) {
        // Behind a proxy all connections have one address: there each request is counted instead.
        if let peer = context.channel.remoteAddress?.ipAddress, !SourceAddress.isPrivate(peer) {
            guard shares.enter(peer) else { return context.close(promise: nil) }
            address = peer
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let address { shares.leave(address) }
        address = nil
        context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let written = promise ?? context.eventLoop.makePromise()
        if unwritten == 0 { progress = .now() }
        unwritten += 1
        written.futureResult.assumeIsolated().whenComplete { _ in
            self.unwritten -= 1
            self.progress = .now()
        }
        if !isWatching { watch(context) }
        context.write(data, promise: written)
    }

    /// One timer while anything is unwritten, not one for each answer.
    private func watch(_ context: ChannelHandlerContext) {
        isWatching = true
        context.eventLoop.assumeIsolated().scheduleTask(deadline: progress + deadline) {
            self.isWatching = false
            guard context.channel.isActive, self.unwritten > 0 else { return }
            if .now() - self.progress >= self.deadline { return context.close(promise: nil) }
            self.watch(context)
        }
    }
}
