import Foundation
import Postgres
import TestSupport
import Testing

@testable import Console

@Suite(.hangLimit) struct NotificationsTests {
    @Test func `Notification that Apple delivered late is marked in the lists and on its page, with what to check`()
        async throws
    {
        try await RunningConsole.with { console in
            let uuid = try await console.withOwner { connection in
                try await SampleContents(connection: connection).notification(
                    "DID_RENEW", nil, purchase: SampleContents.purchase, from: -9000, to: 864_000, late: 7200)
            }
            let cookie = try await console.signedIn(role: "support")
            let list = try await console.get("/notifications", cookie: cookie)
            #expect(list.text.contains("delivered 2 h 0 min late"))
            let purchase = try await console.get("/purchases/Production/\(SampleContents.purchase)", cookie: cookie)
            #expect(purchase.text.contains("delivered 2 h 0 min late"))
            let path = "/notifications/\(uuid.uuidString.lowercased())"
            let page = try await console.get(path, cookie: cookie)
            #expect(page.text.contains("by 2 h 0 min: an earlier attempt"))
            // The scheduler has not read Apple's attempts yet.
            #expect(page.text.contains("storekeeper notifications history"))
            try await console.withOwner { connection in
                try await connection.run(
                    unsafeScript: """
                        insert into send_attempt (attempted_at, notification_uuid, environment, bundle_id, result)
                        values (to_timestamp(1), '\(uuid)', 'Production', '\(SampleContents.app)', 'TIMED_OUT'),
                            (to_timestamp(3601), '\(uuid)', 'Production', '\(SampleContents.app)', 'SUCCESS')
                        """)
            }
            let known = try await console.get(path, cookie: cookie)
            #expect(known.text.components(separatedBy: "TIMED_OUT: ingest answered too late").count == 3)
            #expect(!known.text.contains("storekeeper notifications history"))
            try await SampleContents.fill(console)
            let recent = Int64(RunningConsole.now.timeIntervalSince1970) - 9000
            try await console.withOwner { connection in
                try await connection.run(
                    unsafeScript: """
                        insert into send_attempt (attempted_at, notification_uuid, environment, bundle_id, result)
                        values (to_timestamp(\(recent)), '\(uuid)', 'Production', '\(SampleContents.app)', 'TLS_ISSUE')
                        """)
            }
            let coverage = try await console.get("/coverage", cookie: cookie)
            #expect(coverage.text.contains("TLS_ISSUE") && coverage.text.contains("the certificate: it must be valid"))
        }
    }

    @Test func `Answer to HEAD of the live list has no body, so the next answer is read as one`() async throws {
        try await RunningConsole.with { console in
            let cookie = try await console.signedIn(role: "support")
            let client = try RawClient(port: console.port)
            for path in ["/notifications/live", "/help"] {
                await client.send(
                    "HEAD \(path) HTTP/1.1\r\nHost: test\r\nCookie: \(Authenticator.cookie)=\(cookie)\r\n\r\n")
                #expect(await client.answer()?.status == 200)
            }
        }
    }

    @Test func `Page of a notification says in words what it said`() async throws {
        try await RunningConsole.with { console in
            let uuid = try await console.withOwner { connection in
                try await SampleContents(connection: connection).notification(
                    "ONE_TIME_CHARGE", nil, purchase: "7", from: -500, to: 0,
                    decoded: #"""
                        {"data":{"signedTransactionInfo":{"transactionId":"7","originalTransactionId":"7","productId":\#
                        "coins.small","type":"Consumable","quantity":3}}}
                        """#)
            }
            let cookie = try await console.signedIn(role: "support")
            let page = try await console.get("/notifications/\(uuid.uuidString.lowercased())", cookie: cookie)
            #expect(page.text.contains("The customer bought 3 × coins.small."))
        }
    }
}
