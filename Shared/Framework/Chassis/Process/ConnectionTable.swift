import NIOCore
import ServiceLifecycle
import Synchronization

/// The open connections, so that those which only wait make room for those which ask.
///
/// Connections of strangers, on which no valid key or session was sent yet, are closed first, also amid a request: its body may be meant
/// never to end.
package final class ConnectionTable: Sendable {
    private struct Entry {
        let channel: any Channel
        /// True once a request had a valid key or session.
        var isKnown = false
        /// Requests whose answer is not complete.
        var requests = 0
        /// Since it was opened or its last answer.
        var idleSince: ContinuousClock.Instant
    }

    /// Connections at a time; one more closes idle ones.
    package let limit: Int
    /// A connection may be idle for so long before a valid key or session was sent on it, and after that.
    package let patience: (stranger: Duration, known: Duration)
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    package init(
        limit: Int, patience: (stranger: Duration, known: Duration),
        instant: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.limit = limit
        self.patience = patience
        self.instant = instant
    }

    /// Some more than ``limit`` are accepted, so that there is room until others are closed.
    package var accepted: Int { limit + max(16, limit / 8) }

    package func opened(_ channel: any Channel) {
        let now = instant()
        let victims = entries.withLock { entries in
            let full = entries.count >= limit
            defer { entries[ObjectIdentifier(channel)] = Entry(channel: channel, idleSince: now) }
            // Several at once, so that a flood of connections does not look for one at each.
            return full ? Self.longestIdle(entries, most: max(1, limit / 64)) : []
        }
        for victim in victims { victim.close(promise: nil) }
    }

    private static func longestIdle(_ entries: [ObjectIdentifier: Entry], most: Int) -> [any Channel] {
        let strangers = entries.values.filter { !$0.isKnown }
        let victims = strangers.isEmpty ? entries.values.filter { $0.requests == 0 } : strangers
        return victims.sorted { $0.idleSince < $1.idleSince }.prefix(most).map(\.channel)
    }

    package func closed(_ channel: any Channel) { entries.withLock { $0[ObjectIdentifier(channel)] = nil } }

    /// A request has arrived.
    package func begins(_ channel: any Channel) { entries.withLock { $0[ObjectIdentifier(channel)]?.requests += 1 } }

    /// It has a valid key or session.
    package func isKnown(_ channel: any Channel) { entries.withLock { $0[ObjectIdentifier(channel)]?.isKnown = true } }

    /// It was answered.
    package func ends(_ channel: any Channel) {
        let now = instant()
        entries.withLock { entries in
            entries[ObjectIdentifier(channel)]?.requests -= 1
            entries[ObjectIdentifier(channel)]?.idleSince = now
        }
    }

    /// It was answered with a body: the answer is complete once a stream of it ends.
    package func ends(_ channel: any Channel, with body: HTTPBody) -> HTTPBody {
        guard case .stream(let write) = body else {
            ends(channel)
            return body
        }
        return .stream { writer in
            defer { self.ends(channel) }
            try await write(&writer)
        }
    }

    /// Sweeps each second until the process stops.
    package func sweepAlways() async {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(1))) != nil { self.sweep() }
        }
    }

    /// Closes what has been idle for too long: headers that do not come, answers that are not read.
    package func sweep() {
        let now = instant()
        let victims = entries.withLock { entries in
            entries.values.filter { entry in
                entry.requests == 0
                    && entry.idleSince.duration(to: now) > (entry.isKnown ? patience.known : patience.stranger)
            }
        }
        for victim in victims { victim.channel.close(promise: nil) }
    }
}

/// Tells the table of a connection.
package final class ConnectionObserver: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = Any

    private let table: ConnectionTable

    package init(_ table: ConnectionTable) { self.table = table }

    package func channelActive(context: ChannelHandlerContext) {
        table.opened(context.channel)
        context.fireChannelActive()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        table.closed(context.channel)
        context.fireChannelInactive()
    }
}
