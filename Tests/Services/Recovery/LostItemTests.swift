import Chassis
import Contracts
import Foundation
import Kafka
import Pipeline
import Records
import Storage
import TestSupport
import Testing

@testable import Recovery

/// Republished notifications that never reach the ledger.
@Suite(.serialized, .hangLimit) struct LostItemTests {
    @Test func `Item that was published and lost is published again when its window lists it again`() async throws {
        try await History.use { history async throws in
            let (lost, rejected) = (UUID(), UUID())
            let items = [History.item(lost), History.item(rejected)]
            let store = RecoveryItemStore(history.connection)
            try await whileRunning(try await ComparePagesTests.services(history)) {
                try await history.producer.send([ProducerRecord(Topics.historyPages, history.page(0, items))])
                _ = try await history.broker.messages(of: Topics.received, count: 2)
                try await becomes("both wait") {
                    try await store.items(of: history.window, states: [.published]).count == 2
                }
                _ = try await RejectedStore(history.connection).record([
                    RejectedRow(
                        cluster: "c", position: LogPosition(topic: "r", partition: 0, offset: 0), stage: "verifier",
                        reason: "signature", message: "not by Apple", rejectedAt: History.now,
                        claims: .init(source: .history, receivedAt: History.now, notificationUUID: rejected))
                ])
                // Hours later the scheduler fetches the window again.
                try await history.fetch([history.page(1, items)])
                let received = try await history.broker.messages(of: Topics.received, count: 4)
                #expect(received.filter { $0.signedPayload == History.signedPayload(lost) }.count == 2)
                try await history.arrive([lost])
                try await becomes("the window closes") { try await history.recoveryWindow().state == .closed }
            }
            let counts = try await history.recoveryWindow().counts
            #expect(counts == .init(listed: 2, missing: 2, recovered: 1, rejected: 1))
        }
    }

    @Test func `Items that a process left behind after closing their window are deleted by the next one`()
        async throws
    {
        try await History.use { history async throws in
            let here = UUID()
            try await history.arrive([here])
            let store = RecoveryItemStore(history.connection)
            try await store.record(
                [
                    SeenPage(
                        window: history.window, page: 0, part: 0,
                        items: [
                            RecoveryItem(
                                window: history.window, notificationUUID: here, state: .present,
                                noticedAt: History.now)
                        ])
                ], attempts: [])
            try await history.fetch([history.page(0, [History.item(here)])])
            let windows = RecoveryWindowStore(history.connection)
            #expect(try await windows.close([history.window], at: History.now) == [history.window])
            #expect(try await store.items(of: history.window).count == 1)
            try await whileRunning([ComparePagesTests.closing(history)]) {
                try await becomes("it is forgotten") { try await store.items(of: history.window).isEmpty }
            }
        }
    }
}
