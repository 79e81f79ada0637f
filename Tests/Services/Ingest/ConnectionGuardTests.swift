import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import Ingest

@Suite struct ConnectionGuardTests {
    private typealias Part = ConnectionGuard.InboundIn

    private static let head = Part.head(
        .init(method: .post, scheme: nil, authority: nil, path: "/v1/notifications"))
    private static let piece = Part.body(ByteBuffer(string: "{"))

    private static func connected() throws -> EmbeddedChannel {
        let shares = AddressShares(places: 8, share: 1)
        let channel = EmbeddedChannel(handler: ConnectionGuard(deadline: .seconds(10), shares: shares))
        try channel.connect(to: SocketAddress(ipAddress: "203.0.113.7", port: 1)).wait()
        return channel
    }

    @Test func `ConnectionGuard closes a connection on which the rest of a request does not come`() throws {
        let channel = try Self.connected()
        // The request before it is still being answered, so that the server's idle timeout has ended.
        for part in [Self.head, .end(nil), Self.head, Self.piece] { try channel.writeInbound(part) }
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `ConnectionGuard waits for a request while parts of it come`() throws {
        let channel = try Self.connected()
        try channel.writeInbound(Self.head)
        for _ in 0..<3 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(9))
            try channel.writeInbound(Self.piece)
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(!channel.isActive)
    }

    @Test func `ConnectionGuard lets a request wait for the answers before its own`() throws {
        let channel = try Self.connected()
        for part in [Self.head, .end(nil), Self.head] { try channel.writeInbound(part) }
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        try channel.writeOutbound(ByteBuffer(string: "an answer"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `ConnectionGuard keeps a connection whose requests are complete`() throws {
        let channel = try Self.connected()
        for part in [Self.head, Self.piece, .end(nil)] { try channel.writeInbound(part) }
        channel.embeddedEventLoop.advanceTime(by: .seconds(100))
        #expect(channel.isActive)
        _ = try channel.finish()
    }
}
