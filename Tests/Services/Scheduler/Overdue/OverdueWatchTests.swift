import Contracts
import Foundation
import Postgres
import Storage
import Testing

@testable import Scheduler

@Suite(.timeLimit(.minutes(3))) struct OverdueWatchTests {
    static func watch(_ desk: AppleDesk) -> OverdueWatch {
        OverdueWatch(
            store: OverdueStore(desk.connection), apps: [AppleDesk.app], producer: desk.producer, patience: 7200,
            budget: 2, now: { AppleDesk.now })
    }

    @Test func `as many are asked about as a turn allows, the oldest first, and none twice`() async throws {
        try await AppleDesk.open { desk in
            for hours in 3...5 {
                let expiry = AppleDesk.now.addingTimeInterval(-Double(hours) * 3600).timeIntervalSince1970
                try await desk.connection.run(
                    unsafeScript: """
                        insert into subscription (
                            signed_at, revision, status, status_news_at, status_news_uuid, expires_at, notification_uuid,
                            environment, original_transaction_id, bundle_id)
                        values (to_timestamp(1), 1, 1, now(), gen_random_uuid(), to_timestamp(\(expiry)),
                            gen_random_uuid(), 'Production', 'ended \(hours) hours ago', 'com.example.app')
                        """)
            }
            try await Self.watch(desk).turn()
            let first = try await desk.read(Topics.recoveryRequests) { $0.count >= 2 }
            #expect(Set(first.map(\.originalTransactionId)) == ["ended 5 hours ago", "ended 4 hours ago"])
            #expect(first.allSatisfy { $0.skipped == ["overdue"] && $0.to == AppleDesk.now })
            try await Self.watch(desk).turn()
            try await Self.watch(desk).turn()
            let all = try await desk.read(Topics.recoveryRequests) { $0.count >= 3 }
            #expect(all.count == 3)
        }
    }
}
