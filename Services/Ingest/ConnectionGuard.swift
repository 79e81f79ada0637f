import HummingbirdCore
import NIOCore

/// Closes a connection whose client does not read its answers, or does not send the rest of a request, or whose address has its
/// share already.
///
/// The server's idle timeout covers none of them: an answer that cannot be written counts as a request in progress, and while an
/// earlier request is answered the timeout ends for good, so that the rest of the next one may never come.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPConnectionStateHandler.InboundIn
    typealias OutboundIn = Any

    private let deadline: TimeAmount
    private let shares: AddressShares
    private var address: String?
    private var unwritten = 0
    /// When the client last read something, or the first of what it has not read yet was written.
    private var progress = NIODeadline.uptimeNanoseconds(0)
    /// When the last part of a request came that is not complete, or an answer before its own was written; nil without one.
    private var received: NIODeadline?
    private var isWatching = false

    init(deadline: Duration, shares: AddressShares) {
        self.deadline = TimeAmount(deadline)
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

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) { received = nil } else { received = context.eventLoop.now }
        if !isWatching { watch(context) }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let written = promise ?? context.eventLoop.makePromise()
        let eventLoop = context.eventLoop
        if unwritten == 0 { progress = eventLoop.now }
        if received != nil { received = eventLoop.now }
        unwritten += 1
        written.futureResult.assumeIsolated().whenComplete { _ in
            self.unwritten -= 1
            self.progress = eventLoop.now
        }
        if !isWatching { watch(context) }
        context.write(data, promise: written)
    }

    /// Since when the client does nothing although it should; nil where it need not.
    private var silence: NIODeadline? {
        guard unwritten > 0 else { return received }
        return min(progress, received ?? progress)
    }

    /// One timer while the client has something to do, not one for each request.
    private func watch(_ context: ChannelHandlerContext) {
        guard let silence else { return }
        isWatching = true
        context.eventLoop.assumeIsolated().scheduleTask(deadline: silence + deadline) {
            self.isWatching = false
            guard context.channel.isActive, let silence = self.silence else { return }
            if context.eventLoop.now - silence >= self.deadline { return context.close(promise: nil) }
            self.watch(context)
        }
    }
}
