import Contracts
import Foundation
import Storage
import Testing

@testable import Console

@Suite(.hangLimit) struct RefundTests {
    private static let request = "/refunds/Production/\(SampleContents.purchase)"

    @Test func `Viewer sees refund requests by deadline, and no id, answer or usage of a customer`() async throws {
        try await SampleContents.with(refunds: true) { console in
            let cookie = try await console.signedIn(role: "viewer")
            let page = try await console.get("/refunds", cookie: cookie)
            #expect(page.status == 200 && page.text.contains("2000…0001") && page.text.contains("pro.monthly"))
            #expect(!page.text.contains(SampleContents.purchase) && !page.text.contains("GRANT_FULL"))
            #expect(try await console.get(Self.request, cookie: cookie).status == 403)
        }
    }

    @Test func `Support sees what the policy would tell, and the purchase's page shows the request`() async throws {
        try await SampleContents.with(refunds: true) { console in
            let cookie = try await console.signedIn(role: "support")
            let list = try await console.get("/refunds", cookie: cookie)
            #expect(list.text.contains("GRANT_FULL") && list.text.contains("always"))
            let filtered = try await console.get("/refunds?state=answered", cookie: cookie)
            #expect(filtered.text.contains("Requests that are answered") && filtered.text.contains("None."))
            let page = try await console.get(Self.request, cookie: cookie)
            #expect(page.text.contains("Nothing is decided yet") && page.text.contains("the policy would tell"))
            #expect(page.text.contains("storekeeper refunds answer \(SampleContents.purchase)"))
            let purchase = try await console.get("/purchases/Production/\(SampleContents.purchase)", cookie: cookie)
            #expect(purchase.text.contains(#"href="\#(Self.request)""#))
            #expect(try await console.get("/refunds/Sandbox/1", cookie: cookie).status == 404)
        }
    }

    @Test func `Support sees the request whose time is over first, however many are newer`() async throws {
        try await SampleContents.with(refunds: true) { console in
            try await console.withOwner { connection in
                let now = Int64(RunningConsole.now.timeIntervalSince1970)
                try await connection.run(
                    unsafeScript: """
                        insert into refund_request (
                            requested_at, request_uuid, environment, transaction_id, original_transaction_id, bundle_id)
                        select to_timestamp(\(now) - 3600 + number), gen_random_uuid(), 'Production'::store_environment,
                            'newer-' || number, 'newer-' || number, '\(SampleContents.app)'
                        from generate_series(1, 150) as number
                        union all
                        select to_timestamp(\(now) - 11 * 3600), gen_random_uuid(), 'Production', 'urgent', 'urgent',
                            '\(SampleContents.app)'
                        """)
            }
            let cookie = try await console.signedIn(role: "support")
            #expect(try await console.get("/refunds", cookie: cookie).text.contains("/refunds/Production/urgent"))
        }
    }

    @Test func `Viewer pages through all requests, by links without an id of a customer`() async throws {
        try await RunningConsole.with { console in
            try await console.withOwner { connection in
                let now = Int64(RunningConsole.now.timeIntervalSince1970)
                try await connection.run(
                    unsafeScript: """
                        insert into refund_request (
                            requested_at, request_uuid, outcome_at, outcome_uuid, outcome, environment, transaction_id,
                            original_transaction_id, bundle_id)
                        select to_timestamp(\(now) - 2 * number), gen_random_uuid(), to_timestamp(\(now)),
                            gen_random_uuid(), 'declined', 'Production', lpad(number::text, 16, '0'), number::text,
                            '\(SampleContents.app)'
                        from generate_series(1, 101) as number
                        """)
            }
            let cookie = try await console.signedIn(role: "viewer")
            let older = "/refunds?before=\((Int(RunningConsole.now.timeIntervalSince1970) - 200) * 1000 + 1)"
            let first = try await console.get("/refunds", cookie: cookie)
            #expect(first.text.contains("\"\(older)\"") && !first.text.contains("0000…0101"))
            let second = try await console.get(older, cookie: cookie)
            #expect(second.text.contains("0000…0100") && second.text.contains("0000…0101"))
        }
    }

    @Test func `Support answers by hand once, after a dry run, with a reason in the audit log`() async throws {
        try await SampleContents.with(refunds: true) { console in
            let cookie = try await console.signedIn(as: "sue", role: "support")
            let token = try #require(try await console.get(Self.request, cookie: cookie).field("token"))
            let path = Self.request + "/answer"
            let fields = ["token": token, "preference": "DECLINE", "reason": "ticket 812"]
            let before = try await DatabaseContents(console)
            let dry = try await console.post(path, cookie: cookie, fields.merging(["step": "plan"]) { $1 })
            #expect(dry.status == 200 && dry.text.contains("Apple would be told"))
            for (name, value) in [("preference", "MAYBE"), ("percentage", "many"), ("reason", " ")] {
                let answer = try await console.post(path, cookie: cookie, fields.merging([name: value]) { $1 })
                #expect(answer.status == 422, "\(name)")
            }
            #expect(try await console.post(path, cookie: cookie, ["preference": "DECLINE"]).status == 403)
            #expect(try await DatabaseContents(console).text == before.text)
            #expect(try await console.post(path, cookie: cookie, fields).status == 303)
            #expect(try await console.post(path, cookie: cookie, fields).status == 409)
            let key = RefundKey(.production, SampleContents.purchase)
            let (answers, action) = try await console.withOwner { connection in
                (
                    try await RefundRequestPages(connection).answers(key),
                    try await OperatorActionStore(connection).newest(1).first
                )
            }
            #expect(answers.map(\.decidedBy) == ["sue"])
            #expect(answers.first?.body?.contains("DECLINE") == true)
            #expect(action?.operation == "refunds answer" && action?.reason == "ticket 812")
            let page = try await console.get(Self.request + "?done=answer", cookie: cookie)
            #expect(page.text.contains("The answer is stored") && page.text.contains(">sue<"))
            #expect(!page.text.contains("Answer by hand"), "Apple gets one answer to a request")
        }
    }
}
