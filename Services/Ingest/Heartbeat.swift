import Chassis
import Contracts
import Kafka

import struct Foundation.Date

/// Writes a heartbeat once a minute: this ingest is running, and these were its answers.
///
/// A minute without a heartbeat is a minute in which notifications may have been lost, so a heartbeat that Kafka does not
/// acknowledge is not kept for later: the gap that it leaves is correct.
struct Heartbeat: Service {
    let instance: String
    let tally: Tally
    let now: @Sendable () -> Date
    /// Returns after so long; throws at shutdown, which writes the last heartbeat.
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
            await beat(minute, isLast: isLast)
            guard !isLast else { return }
            // A clock that was set, or a machine that slept, gets no heartbeats for minutes that ingest did not serve.
            let current = Self.startOfMinute(now())
            // Set back by more than a minute: ingest would wait for the time that it came from, and be silent.
            minute = current < minute ? current : max(next, current)
        }
    }

    private func beat(_ minute: Date, isLast: Bool) async {
        let counts = tally.take()
        if !counts.reasons.isEmpty {
            let reasons = counts.reasons.mapValues { Logger.MetadataValue.stringConvertible($0) }
            logger.notice("Requests were rejected in the last minute", metadata: reasons)
        }
        do {
            try await send(
                IngestHeartbeat(
                    instance: instance, minute: minute, accepted: counts.accepted, rejected: counts.rejected,
                    isLast: isLast))
        } catch {
            logger.warning(
                "Heartbeat not written; its minute counts as an outage",
                metadata: ["error": "\(error)"])
        }
    }

    static func startOfMinute(_ date: Date) -> Date {
        Date(timeIntervalSince1970: (date.timeIntervalSince1970 / 60).rounded(.down) * 60)
    }
}
