import Foundation
import Postgres
import TestSupport
import Testing
import WebhookDelivery

@testable import Webhooks

/// Senders of which one has a clock that differs from that of the database.
@Suite struct SenderClockTests {
    @Test(.hangLimit, arguments: [61.0, 86_400])
    func `A sender whose clock is ahead takes no delivery that another one holds`(ahead seconds: Double) async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        // The first request is the endpoint's test.
        try await HookReceiver.listening(answering: { number, _ in
            if number == 2 { for await _ in gate {} }
            return .init()
        }) { receiver, port in
            try await SenderTests.with(receiver, port: port) { bench in
                try await bench.drain()
                let sequences = try await bench.enqueue(["a", "a"])
                #expect(try await bench.sender.turn() == 1)
                let other = try await bench.sender(ahead: seconds)
                try await other.refresh()
                #expect(try await other.turn() == 0)
                open.finish()
                try await bench.drain()
                let cursors = receiver.all.dropFirst().map { $0.headers["storekeeper-cursor"] }
                #expect(cursors == sequences.map { "\($0)" })
            }
        }
    }

    @Test(.hangLimit) func `A retry is due for all senders at the same time, whatever their clocks`() async throws {
        try await HookReceiver.listening(answering: { number, _ in
            .init(status: number == 2 ? .internalServerError : .ok)
        }) { receiver, port in
            try await SenderTests.with(receiver, port: port) { bench in
                try await bench.drain()
                _ = try await bench.enqueue(["a"])
                try await bench.drain()
                #expect(receiver.all.count == 2)
                let (ahead, behind) = (try await bench.sender(ahead: 61), try await bench.sender(ahead: -61))
                try await ahead.refresh()
                #expect(try await ahead.turn() == 0)
                try await bench.advance(by: 6)
                try await behind.refresh()
                #expect(try await behind.turn() == 1)
                while try await behind.round() {}
                #expect(receiver.all.count == 3 && receiver.all[1].id == receiver.all[2].id)
            }
        }
    }

    @Test(.hangLimit) func `A sender whose clock is ahead probes no endpoint that another one probes`() async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        try await HookReceiver.listening(answering: { number, _ in
            if number == 2 { for await _ in gate {} }
            return .init()
        }) { receiver, port in
            try await SenderTests.with(receiver, port: port) { bench in
                try await bench.drain()
                _ = try await bench.enqueue(["a", "b"])
                try await bench.connection.run(
                    unsafeScript: """
                        update webhook_health
                        set failures = \(EndpointHealth.limit), failing_since = next_probe_at
                        """)
                try await bench.sender.refresh()
                #expect(try await bench.sender.turn() == 1)
                let other = try await bench.sender(ahead: 61)
                try await other.refresh()
                #expect(try await other.turn() == 0)
                open.finish()
                try await bench.drain()
                #expect(receiver.all.count == 3)
            }
        }
    }
}
