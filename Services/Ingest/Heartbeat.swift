import Chassis
import Contracts
import Kafka

import struct Foundation.Date

/// Says once a minute that this ingest is alive and what it answered.
///
/// A minute without a heartbeat is a minute in which notifications may have been lost, so a heartbeat that the log does
/// not take is not kept for later: the gap it leaves is the truth.
struct Heartbeat: Service {
    let instance: String
    let tally: Tally
    let now: @Sendable () -> Date
    /// Returns after so long; throws when there is no more time, which sends the last heartbeat.
    let wait: @Sendable (Duration) async throws -> Void
    let send: @Sendable (IngestHeartbeat) async throws -> Void
    let logger: Logger

    func run() async throws {
        var minute = Self.startOfMinute(now())
        while true {
            let next = minute.addingTimeInterval(60)
            let isLast: Bool
            do {
                let rest = max(0, next.timeIntervalSince(now()))
                try await cancelWhenGracefulShutdown { try await wait(.seconds(rest)) }
                isLast = Task.isCancelled || Task.isShuttingDownGracefully
            } catch {
                isLast = true
            }
            await beat(minute)
            guard !isLast else { return }
            // A clock that was set back or forward, or a machine that slept, does not get its minutes invented.
            minute = max(next, Self.startOfMinute(now()))
        }
    }

    private func beat(_ minute: Date) async {
        let counts = tally.take()
        if !counts.reasons.isEmpty {
            let reasons = counts.reasons.mapValues { Logger.MetadataValue.stringConvertible($0) }
            logger.notice("Requests were refused in the last minute", metadata: reasons)
        }
        do {
            try await send(
                IngestHeartbeat(
                    instance: instance, minute: minute, accepted: counts.accepted, refused: counts.refused))
        } catch {
            logger.warning(
                "The heartbeat could not be written; its minute counts as an outage",
                metadata: ["error": "\(error)"])
        }
    }

    static func startOfMinute(_ date: Date) -> Date {
        Date(timeIntervalSince1970: (date.timeIntervalSince1970 / 60).rounded(.down) * 60)
    }
}
